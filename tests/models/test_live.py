"""`make live` against a scripted server: what it prints, and by which exit code it answers."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from journeygraph.nodes.llm.scripted import Call
from journeygraph.server.scripted import ScriptedServer
from tests.live import peer
from tests.live.run import main
from tests.support.clinic_model import FILLS, ClinicModel, role_of
from tests.support.command import ROOT
from tests.support.forked import Command

WANTS = {"When can I expect to see the money on my account?": "policy"}


def live(
    *names: str, url: str = "", key: str = "sk-scripted", seconds: int = 110
) -> subprocess.CompletedProcess[str]:
    given = {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": url}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    environment = {**clean, **{name: value for name, value in given.items() if value}}
    command = ["tests.live.run", *names]
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Command(command, cwd=ROOT, env=environment, **pipes) as run:
        shown, errors = (stream.decode() for stream in run.communicate(timeout=seconds))
    return subprocess.CompletedProcess(command, run.returncode, shown, errors)


@pytest.mark.long
def test_the_examples_hold_with_a_model_that_works() -> None:
    with ScriptedServer(always=ClinicModel(WANTS, FILLS)) as server:
        run = live(url=server.url)

    assert (run.returncode, run.stderr) == (0, "")
    assert "healthcare_referral: 22 checks held, 0 did not" in run.stdout
    assert "parcel_refund: 10 checks held, 0 did not" in run.stdout
    assert "FAIL" not in run.stdout
    assert all(call.authorized for call in server.calls)
    told = re.findall(r"\d+\.\d s, model calls: \d+, tokens: \d+ in, \d+ out", run.stdout)
    assert len(told) == 6 + 4


def test_a_model_that_nobody_can_read_fails_it() -> None:
    model = ClinicModel(fills=FILLS, others={"rag_faq_agent": lambda call: "Hm."})
    with ScriptedServer(always=model) as server:
        run = live("healthcare_referral", url=server.url)

    assert run.returncode == 1
    assert "FAIL turn 2: nothing failed" in run.stdout
    assert "FAIL turn 5" not in run.stdout


def test_the_wording_of_a_model_does_not_matter() -> None:
    def mumbles(call: Call) -> Any:
        answer = ClinicModel(fills=FILLS)(call)
        if isinstance(answer, dict) and "response" in answer and role_of(call) != "understanding":
            return {**answer, "response": "Hm."}
        return answer

    with ScriptedServer(always=mumbles) as server:
        run = live("healthcare_referral", url=server.url)

    assert run.returncode == 0


def test_without_a_key_nothing_is_proved_and_that_is_no_success() -> None:
    run = live(key="")

    assert run.returncode == 2
    assert "OPENAI_API_KEY is not set" in run.stdout


def test_an_unknown_scene_is_refused_with_those_that_there_are() -> None:
    run = live("parcel")

    assert run.returncode == 2
    assert "healthcare_referral, parcel_refund" in run.stdout


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(580)
def test_a_server_that_is_not_ours_answers_within_its_schemas_and_limits() -> None:
    """llama.cpp's own server: what goes over the wire holds, though the model knows nothing."""
    if peer.python() is None:
        pytest.skip("llama.cpp's server is not there: `make peer` gets it.")
    run = live("--local", "--messages", "5", key="", seconds=560)

    assert run.returncode == 0, run.stdout
    for row in ("calls past their limit", "effects without a confirmation", "crashes"):
        assert re.search(rf"^{row} +0$", run.stdout, re.M), run.stdout
    assert re.search(r"^valid answers +([1-9]\d*) of \1 \(100%\)$", run.stdout, re.M), run.stdout


def test_without_the_server_of_this_machine_nothing_is_proved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peer, "TOOLS", tmp_path)
    assert main(["--local"]) == 2
    assert "`make peer` gets it" in capsys.readouterr().out
