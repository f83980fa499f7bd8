"""A journey that takes effects outside of its process, where every test can count them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import journeygraph.graphs.session.manager  # noqa: F401  (so that a fork has it)
from journeygraph import Effect, Escalation, Field, Journey, JourneyConfig, Pathway, Transition
from journeygraph.graphs.storage import leases
from journeygraph.nodes.language.lexicon import lexicon_of
from tests.support import crash_child
from tests.support.clerks import said

lexicon_of("en")  # made by the first message otherwise, in some test's time and in every fork


class Ferry(Journey):
    """Sell a crossing."""

    __escalation__ = Escalation()

    class CrossingPath(Pathway):
        __fields__ = [
            Field("port", "enum", ask="Which port?", choices=["Harwich", "Dover", "Hull"]),
            Field("cars", "integer", ask="How many cars?", confirm=True),
        ]
        __effects__ = [
            Effect("reserve", save="reserved", done="Reserved from {port}: {reserved}."),
            Effect("charge", {"amount": "cars"}, done="Charged: {receipt}."),
        ]
        __agents__ = ["purser"]

    __transitions__ = [Transition(said("another crossing"), to_pathway="crossing")]


SAID = ("hello", "Harwich", "2")
"""What leads up to the summary; a yes to that takes the effects."""


class World:
    """What is outside: a harbour that reserves whatever it is asked to, and a bank that knows keys.

    Args:
        folder: The folder in which both record what they did.
        trouble: Called with the name of a moment whenever it comes.
    """

    def __init__(self, folder: Path, trouble: Callable[[str], Any] = lambda moment: None) -> None:
        self.folder = folder
        self._trouble = trouble

    async def reserve(self, port: str, cars: int) -> str:
        """Reserve places.

        Args:
            port: From where.
            cars: The number of cars.
        """
        await self._meet("before reserve")
        self._write("reserved", f"{port} {cars}")
        await self._meet("after reserve")
        return f"{cars} from {port}"

    async def charge(self, amount: int, idempotency_key: str) -> dict[str, str]:
        """Charge a card, once for each key.

        Args:
            amount: The amount.
            idempotency_key: Of the payment.
        """
        await self._meet("before charge")
        self._write("asked", idempotency_key)
        name = hashlib.sha256(idempotency_key.encode()).hexdigest()
        try:
            with (self.folder / f"payment-{name}").open("x") as payment:
                payment.write(str(amount))
        except FileExistsError:
            pass
        await self._meet("after charge")
        return {"receipt": name[:6]}

    async def purser(self, payload: dict[str, Any]) -> dict[str, Any]:
        await self._meet("purser")
        return {"response": f"Safe trip with {payload['context']['reserved']}."}

    @property
    def reserved(self) -> list[str]:
        """Every reservation that was made."""
        return self._lines("reserved")

    @property
    def asked(self) -> list[str]:
        """Every key that the bank was asked with."""
        return self._lines("asked")

    @property
    def payments(self) -> int:
        """How many payments were made."""
        return len(list(self.folder.glob("payment-*")))

    async def _meet(self, moment: str) -> None:
        met = self._trouble(moment)
        if met is not None:
            await met

    def _write(self, name: str, text: str) -> None:
        with (self.folder / name).open("a") as log:
            log.write(f"{text}\n")

    def _lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []


def ferry(url: str, world: World, session_id: str = "s-1", **config: Any) -> Ferry:
    """Take a handle on a session of Ferry."""
    return Ferry(
        session_id,
        JourneyConfig(persistence=url, **config),
        agents={"purser": world.purser},
        model=False,
        tools={"reserve": world.reserve, "charge": world.charge},
    )


async def led_up(url: str, world: World, session_id: str = "s-1") -> None:
    """Begin a session, and talk until a yes is all that is missing."""
    async with ferry(url, world, session_id) as journey:
        await journey.start()
        for message in SAID:
            reply = await journey.process_message(message)
        assert reply.message.endswith("Is that right?")


def dies_at(moment: str) -> Callable[[str], None]:
    """Kill the process that it is called in when a moment comes."""

    def trouble(met: str) -> None:
        if met == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    return trouble


def confirm(
    url: str, folder: str, moment: str, statement: int | None, session_id: str = "s-1"
) -> None:
    """Say yes; die when a moment comes, or before a statement of the turn is executed."""
    leases.LEASE = crash_child.LEASE
    asyncio.run(_confirm(url, Path(folder), session_id, moment, statement))


async def _confirm(
    url: str, folder: Path, session_id: str, moment: str, statement: int | None
) -> None:
    journey = ferry(url, World(folder, dies_at(moment)), session_id)
    if statement is not None:
        await crash_child.doomed(journey, statement)
    await journey.process_message("yes", idempotency_key="yes")
    await journey.close()


def confirm_slowly(url: str, folder: str) -> None:
    """Say yes to a harbour that takes its time."""

    world = World(
        Path(folder), lambda moment: asyncio.sleep(0.4) if moment == "after reserve" else None
    )

    async def say() -> None:
        async with ferry(url, world) as journey:
            await journey.process_message("yes")

    asyncio.run(say())
