"""Caches: what was read from the database, kept closer; never the truth.

Whatever a cache says is compared with the database's version of it, and its seal is checked, so
that a cache that is down, slow or lying costs time and never an answer.
"""

from server.cache.contexts import Contexts
from server.cache.memory import MemoryCache
from server.cache.opening import open_cache
from server.cache.port import Cache, Counts
from server.cache.shelf import Shelf

__all__ = ["Cache", "Contexts", "Counts", "MemoryCache", "Shelf", "open_cache"]
