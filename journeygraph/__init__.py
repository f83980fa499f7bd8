"""JourneyGraph: the names that authors use, and the four packages behind them.

The packages `journeys`, `nodes`, `graphs` and `server` are links to the folders at the top of the
repository. A wheel contains them as folders of this package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from journeygraph.journeys import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Return a public name of the language; it is imported on its first use."""
        language = import_module("journeygraph.journeys")
        if name != "__all__" and name not in language.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(language, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Return the public names of the language, and the four packages."""
    language = import_module("journeygraph.journeys")
    return sorted({*language.__all__, "graphs", "journeys", "nodes", "server"})
