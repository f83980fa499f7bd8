"""The time that a correction in words takes, as the first of its process and later ones."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import uuid
from asyncio.subprocess import PIPE
from collections.abc import Iterable
from functools import partial
from itertools import cycle, islice
from statistics import median

from journeygraph import Journey, JourneyConfig
from journeygraph.journeys.examples.table_booking import AGENTS, TOOLS, TableBooking
from tests.benchmarks.material import questions, session
from tests.benchmarks.measure import Figure, Pairs, Steps, Times, duration, timed

PROCESSES, LATER = 8, 40
"""Processes of their own for each first correction; and corrections after it in each."""
_FILLED = ("a table for four please", "on 24 December 2030", "at 7 pm")
_FIRST = "no, six people"
_FIRST_DATE = "no, the date should be 3 July"
_NEXT = (
    "no, six people",
    "no, the date should be 4 July",
    "sorry, at 8 pm",
    "no, at noon",
)


async def corrections(steps: Steps) -> list[Figure]:
    """A correction against a plain turn of the same process, in memory, without a model."""
    first, first_date, later = Pairs(), Pairs(), Pairs()
    for _ in steps("processes that hear a correction", PROCESSES):
        for pairs, message in ((first, _FIRST), (first_date, _FIRST_DATE)):
            plain, corrected = await _measured_in_a_process(message, steps.size(LATER))
            pairs.add_times(corrected[0], _median(plain))
            later.add_times(_median(corrected[1:]), _median(plain))
    what, plain_turn = "correction in words", "plain turn"
    of_date = f"{what}, first, a date of another language"
    return [
        first.figure(f"{what}, first of its process", plain_turn, 4.0, duration),
        first_date.figure(of_date, plain_turn, 4.0, duration),
        later.figure(f"{what}, later", plain_turn, 4.0, duration),
    ]


def _median(measured: list[Times]) -> Times:
    return Times(median(one.wall for one in measured), median(one.cpu for one in measured))


async def _measured_in_a_process(first: str, later: int) -> list[list[Times]]:
    command = (sys.executable, "-m", "tests.benchmarks.corrections", first, str(later))
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    output, _ = await process.communicate()
    return [[Times(*one) for one in measured] for measured in json.loads(output)]


async def _measure(message: str, most: int) -> None:
    """Print the seconds of plain turns, and of corrections in their order.

    Garbage is collected before: else one collection falls into the one first correction.
    """
    url, said = f"memory://{uuid.uuid4()}", questions(1)
    plain = await session(url)
    config = JourneyConfig(persistence=url)
    async with TableBooking("table", config, agents=AGENTS, tools=TOOLS, model=False) as booking:
        gc.collect()
        gc.freeze()
        await booking.start()
        await _took(booking, _FILLED)
        first = await _took(booking, [message])
        usual = await _took(plain, [next(said) for _ in range(most)])
        later = await _took(booking, islice(cycle(_NEXT), most))
    await plain.close()
    print(json.dumps([usual, first + later]))


async def _took(journey: Journey, messages: Iterable[str]) -> list[tuple[float, float]]:
    times = [await timed(partial(journey.process_message, message)) for message in messages]
    return [(one.wall, one.cpu) for one in times]


if __name__ == "__main__":
    asyncio.run(_measure(sys.argv[1], int(sys.argv[2])))
