"""The page of `journeygraph serve --reload` follows each change of a journey."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.browser import Visits, expect
from tests.support.command import ORDERS


@pytest.mark.slow
def test_the_page_shows_each_change_and_each_fault(
    visits: Visits, serve: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "orders.py"
    file.write_text(ORDERS)
    process, place = serve("orders.py", "--reload")
    try:
        visits.expect_error("Failed to load resource")  # while the server is not there, or faulty
        page = visits.open(place)
        expect(page.get_by_text("Take an order.")).to_be_visible()

        file.write_text(ORDERS.replace('to_pathway="help"', 'to_pathway="hepl"'))
        expect(page.get_by_role("heading", name="The journeys have faults")).to_be_visible()
        expect(page.get_by_text("Did you mean 'help'?")).to_be_visible()

        file.write_text(ORDERS.replace("Take an order.", "Take a large order."))
        expect(page.get_by_text("Take a large order.")).to_be_visible()
    finally:
        process.terminate()
        process.communicate()


@pytest.mark.slow
def test_the_reasons_of_a_turn_show_the_traceback_of_an_agent(
    visits: Visits, serve: Callable[..., Any], tmp_path: Path
) -> None:
    broken = ORDERS.replace("def clerk(ask):", "def clerk(ask):\n    return {}[ask['message']]")
    (tmp_path / "orders.py").write_text(broken)
    place = serve("orders.py", "--reload")[1]
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"session_id": "ann"}).raise_for_status()
        client.post("/sessions/ann/messages", json={"message": "a pear"}).raise_for_status()

    view = visits.open(place, "#/s/ann/why").get_by_role("region", name="Why")

    expect(view.get_by_role("heading", name="Errors")).to_be_visible()
    expect(view.locator("pre.error")).to_contain_text("KeyError: 'a pear'")
    expect(view.locator("pre.error")).to_contain_text("in clerk")
