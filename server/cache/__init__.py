"""Caches: copies of data from the database.

Each copy is compared with the version in the database. So a cache that is down or slow costs time,
and never gives an old answer.
"""

from journeygraph.server.cache.port import Cache, Counts, MemoryCache, open_cache
from journeygraph.server.cache.versioned import Contexts, VersionedCache

__all__ = ["Cache", "Contexts", "Counts", "MemoryCache", "VersionedCache", "open_cache"]
