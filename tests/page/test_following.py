"""The page of `journeygraph serve --reload` follows each change of a journey."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

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
