"""A pipeline behind HTTP: one voice, and what failed inside is named, not described."""

from __future__ import annotations

import json
from typing import Any

from journeygraph import NEVER, Handoff, Journey, Pathway, Pipeline
from tests.pipelines.marked import Marked, fails, mark
from tests.support import api as helpers
from tests.support.api import one

serve = helpers.serve
SECRET = LookupError("the password is swordfish")


def desk(pipeline: Pipeline) -> type[Journey]:
    path = {"__pipeline__": pipeline, "__complete_when__": NEVER}
    members = {"__doc__": "Answer.", "DeskPath": type("DeskPath", (Pathway,), path)}
    return type("Desk", (Journey,), members)


def condition(outputs: dict[str, Any]) -> Any:
    raise SECRET


async def test_over_http_a_pipeline_is_one_voice(serve):
    team = Pipeline.ensemble([Marked("walnut"), Marked("granite")], Marked("writer"))
    api = await serve(one(desk(team)))
    session = await api.begin("desk")

    told = await api.hears(session, "granite, please")

    assert [name for name, _ in told] == ["pathway", "token", "done"]
    assert told[-1][1]["message"] == mark("writer")


async def test_words_of_an_error_inside_are_not_told_over_http(serve):
    ill = Marked("ill", fails(SECRET))
    asked = Marked("asked", lambda payload: {"handoff": Handoff("well"), "response": "x"})
    passing = Pipeline.handoff([asked, Marked("well")], condition).to_agent("passing")
    api = await serve(one(desk(Pipeline.parallel([ill, passing, Marked("last")]))))
    session = await api.begin("desk")

    told = await api.hears(session, "hello")
    said = await api.says(session, "hello")

    assert said["message"] == f"x\n\n{mark('last')}"
    assert "agent_failed:ill" in said["metadata"]["flags"]
    assert "handoff_condition_raised:LookupError" in said["metadata"]["flags"]
    assert "swordfish" not in json.dumps([told, said])
