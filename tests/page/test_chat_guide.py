"""The chat page that a guide builds, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import command
from tests.support.browser import Visits
from tests.support.pages import DOCS, Reader

folder = command.folder


@pytest.mark.slow
def test_the_page_of_the_guide_streams_has_buttons_and_goes_on_after_a_reload(
    folder: Path, visits: Visits
) -> None:
    with Reader(folder) as reader:
        reader.follow(DOCS / "how-to" / "chat-page.md")
        page = visits.open(reader.place, "chat/")
        said = page.locator("#talk p")
        page.get_by_role("button", name="mint").click()
        page.get_by_label("Message").fill("is there caffeine in it?")
        page.get_by_label("Message").press("Enter")
        page.get_by_text("Back to your order").wait_for()
        page.reload()
        page.get_by_text("Back to your order").wait_for()
        page.get_by_label("Message").fill("two")
        page.get_by_label("Message").press("Enter")
        page.get_by_text("2 cups of mint tea are on their way.").wait_for()

        assert said.all_inner_texts()[1:4] == [
            "mint",
            "How many cups?",
            "is there caffeine in it?",
        ]
