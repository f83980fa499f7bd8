"""Put together what a server offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server import Server

from journeys import ConfigurationError, Pipeline
from server.mcp.journeys import JourneyOffer
from server.mcp.offers import Offer
from server.mcp.pipelines import PipelineOffer
from server.mcp.resources import Library
from server.mcp.serving import server_of
from server.wiring import Wiring


def offering(wiring: Wiring, pipelines: Mapping[str, Pipeline]) -> Server[Any]:
    """Return a server that offers the journeys of a wiring, and pipelines by their names.

    Raises:
        ConfigurationError: Two of them would be tools of one name.
    """
    offers: list[Offer] = [JourneyOffer(id_, wiring) for id_ in wiring.journeys]
    offers += [PipelineOffer(name, given, wiring.turns) for name, given in pipelines.items()]
    names = [offer.name for offer in offers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(f"Two of the tools would be named '{twice[0]}'.")
    return server_of(offers, Library(wiring))
