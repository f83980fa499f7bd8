"""Caches: copies of data from the database.

Each copy is compared with the version in the database, and its seal is checked. So a cache that is
down, slow or wrong costs time, but never gives a wrong answer.
"""

from journeygraph.server.cache.port import Cache, Counts, MemoryCache, open_cache
from journeygraph.server.cache.versioned import Contexts, VersionedCache

__all__ = ["Cache", "Contexts", "Counts", "MemoryCache", "VersionedCache", "open_cache"]
