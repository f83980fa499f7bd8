"""Caches: copies of data from the database.

Each copy is compared with the version in the database, and its seal is checked. So a cache that is
down, slow or wrong costs time, but never gives a wrong answer.
"""

from server.cache.contexts import Contexts
from server.cache.memory import MemoryCache
from server.cache.opening import open_cache
from server.cache.port import Cache, Counts
from server.cache.shelf import Shelf

__all__ = ["Cache", "Contexts", "Counts", "MemoryCache", "Shelf", "open_cache"]
