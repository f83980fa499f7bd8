"""Guessed values: an effect uses none that the user has not confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from journeygraph import Effect, Field, Journey, Pathway, Range
from tests.support.talk import Talk


class Kiosk(Journey):
    """Order cakes: first the number and a name, then the day, then the order itself."""

    class WishPath(Pathway):
        """Hear what is wanted."""

        __fields__ = [
            Field("cakes", "integer", "How many cakes?", validators=[Range(1, 50)]),
            Field("colour", "enum", "Which colour?", choices=["red", "white"]),
        ]
        __next__ = "delivery"

    class DeliveryPath(Pathway):
        """Take the order."""

        __fields__ = [Field("day", "enum", "On which day?", choices=["Friday", "Saturday"])]
        __effects__ = [Effect("order", {"cakes": "cakes", "day": "day"}, done="Ordered.")]


class Window(Kiosk):
    """Order cakes where the order asks for nothing more."""

    class DeliveryPath(Pathway):
        """Take the order."""

        __effects__ = [Effect("order", {"cakes": "cakes"}, done="Ordered.")]
        __runs_on_arrival__ = True


@pytest.fixture
async def orders() -> list[Mapping[str, Any]]:
    return []


async def opened(journey: type[Journey], url: str, orders: list[Mapping[str, Any]]) -> Talk:
    def order(cakes: int, day: str = "") -> str:
        """Order cakes."""
        orders.append({"cakes": cakes, "day": day})
        return "done"

    return await Talk.begin(journey, {}, url, options={"tools": {"order": order}})


async def test_what_was_guessed_before_is_read_back_where_the_effect_is(
    memory_url: str, orders: list[Mapping[str, Any]]
) -> None:
    talk = await opened(Kiosk, memory_url, orders)
    assert "cakes I have noted: 12" in await talk.says("we would like 12 cakes I suppose")
    assert "On which day?" in await talk.says("red")

    reply = await talk.says("Friday")

    assert orders == []
    assert "- day: Friday\n- cakes: 12\nIs that right?" in reply
    assert "colour" not in reply
    await talk.says("no")
    await talk.says("cakes")
    assert "Is that right?" not in await talk.says("20")
    assert orders == [{"cakes": 20, "day": "Friday"}]


async def test_a_known_number_is_changed_at_a_question_that_takes_none(
    memory_url: str, orders: list[Mapping[str, Any]]
) -> None:
    talk = await opened(Kiosk, memory_url, orders)
    for said in ("12", "red"):
        await talk.says(said)

    asked = await talk.says("oh dear, with my aunts we are 20 by now")

    assert "Shall I change the cakes to 20?" in asked
    assert "On which day?" in await talk.says("yes")
    await talk.says("Friday")
    assert orders == [{"cakes": 20, "day": "Friday"}]


async def test_what_is_exact_is_read_back_nowhere(
    memory_url: str, orders: list[Mapping[str, Any]]
) -> None:
    talk = await opened(Kiosk, memory_url, orders)
    for said in ("12", "red", "Friday"):
        await talk.says(said)

    assert orders == [{"cakes": 12, "day": "Friday"}]


@pytest.mark.parametrize(
    "unread",
    [
        "my sister brings a guest, so one more of them",
        "hm, perhaps a few less than that",
        "red, and then some extra for my aunts",
        "is a dozen enough for all of us?",
    ],
)
async def test_what_was_known_when_words_were_left_unread_is_read_back(
    memory_url: str, orders: list[Mapping[str, Any]], unread: str
) -> None:
    talk = await opened(Kiosk, memory_url, orders)
    await talk.says("12")
    if "Which colour?" in await talk.says(unread):
        await talk.says("red")

    assert "- cakes: 12" in await talk.says("Friday")
    assert orders == []
    await talk.says("yes")
    assert orders == [{"cakes": 12, "day": "Friday"}]


async def test_without_a_form_of_its_own_the_form_before_it_reads_back(
    memory_url: str, orders: list[Mapping[str, Any]]
) -> None:
    talk = await opened(Window, memory_url, orders)
    await talk.says("we would like 12 cakes I suppose")
    assert "- cakes: 12" in await talk.says("red")
    assert orders == []
    await talk.says("yes")
    assert orders == [{"cakes": 12, "day": ""}]
