"""The `journeygraph` command, run as its users run it."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from journeygraph import ConfigurationError
from journeygraph.graphs.drawing.mermaid import mermaid
from journeygraph.graphs.drawing.svg import svg
from journeygraph.graphs.drawing.terminal import text
from journeygraph.journeys.examples.parcel_refund import ParcelRefund
from journeygraph.server.cli.command_line import app
from journeygraph.server.cli.terminal.rendering import err, progress
from journeygraph.server.settings import Settings
from tests.support import command
from tests.support.command import BARE, BROKEN, ORDERS, ROOT, flat, run, start

NO_MODEL = "No model is configured"
PARCEL = "My parcel never came\nIt is P-1042\nHow long does a refund take?\nGood. Yes please.\n"

folder = command.folder


# ---- the whole


def test_help_and_version_say_what_there_is() -> None:
    overview = run("--help").stdout

    assert all(name in overview for name in ("demo", "chat", "check", "draw", "--version"))
    assert re.match(r"journeygraph \d+\.\d+\.\d+", run("--version").stdout)
    for name in ("demo", "chat", "check", "draw"):
        assert "Usage: journeygraph " + name in flat(run(name, "--help").stdout)


def test_a_command_that_does_not_exist_gets_a_hint() -> None:
    assert "Did you mean 'draw'?" in run("drow", code=2).stderr


# ---- demo


def test_the_demo_holds_the_referral_in_six_turns(tmp_path: Path) -> None:
    picture = tmp_path / "referral.svg"

    shown = run("demo", "--fast", "--svg", str(picture)).stdout

    assert shown.startswith(NO_MODEL)
    assert [f"Turn {n} of 6" in shown for n in range(1, 8)] == [True] * 6 + [False]
    assert "intake → booking" in shown
    assert "booking → faq · detour, booking waits" in shown
    assert "faq → booking" in shown
    assert "booking → confirmation · journey complete" in shown
    assert "+ rejected_doctors" in shown
    assert "+ confirmation_number" in shown
    assert "┆ faq" in shown
    assert "journeygraph chat healthcare_referral" in shown
    assert picture.read_text().startswith("<svg")


def test_the_demo_holds_the_conversation_of_a_journey_that_is_named() -> None:
    shown = run("demo", "insurance_claim", "--fast").stdout

    assert "concierge → claim.report" in shown
    assert "claim.cover → assistance.place" in shown
    assert "claim.file → concierge · journey complete" in shown
    assert "journeygraph chat insurance_claim" in shown
    desk = f"{Path(__file__).parents[1] / 'support' / 'house_desk.py'}:Desk"
    assert "has no DEMO_MESSAGES" in run("demo", desk, code=1).stderr


# ---- chat


def test_a_piped_conversation_is_held_to_its_end(folder: Path) -> None:
    shown = run("chat", "parcel_refund", typed=PARCEL).stdout

    assert shown.startswith(NO_MODEL)
    assert "Done: P-1042 is refunded." in shown
    assert "refund → policy · detour, refund waits" in shown
    assert "journey complete" in shown
    assert "you > It is P-1042\n" in shown
    assert (folder / "journeys.db").exists()


def test_a_session_is_taken_up_where_it_was_left(folder: Path) -> None:
    first = run("chat", "parcel_refund", typed="It is P-1042\n").stdout
    session = re.findall(r"--session (\S+)", first)[-1]

    second = run("chat", "parcel_refund", "--session", session, typed="yes\n").stdout

    assert f"Session {session} continues in refund." in second
    assert "Done: P-1042 is refunded." in second


def test_a_session_can_be_given_a_name_and_a_store(folder: Path) -> None:
    words = ("chat", "parcel_refund", "--session", "mine", "--store", "sqlite:///other.db")

    assert "Session mine starts in find." in run(*words).stdout
    assert "Session mine continues in find." in run(*words).stdout
    assert (folder / "other.db").exists()
    assert not (folder / "journeys.db").exists()


def test_what_agents_say_is_shown_as_it_is_but_cannot_steer_the_terminal(folder: Path) -> None:
    shown = run("chat", "orders:Orders", "--store", "memory://", typed="hello\n/history\n").stdout

    assert "�[2JWhat [bold]would[/bold] you :smile: like?" in shown
    assert "\x1b" not in shown


def test_a_failing_agent_is_told_and_the_talk_goes_on(folder: Path) -> None:
    shown = run("chat", "orders:Orders", "--store", "memory://", typed="fail\na pear\n").stdout

    assert "something went wrong" in shown
    assert "failed, nothing changed" in shown
    assert "the till is �[31mred" in shown
    assert "ask → pay" in shown


def test_a_message_that_no_person_typed_is_refused_and_the_talk_goes_on(folder: Path) -> None:
    result = run("chat", "orders:Orders", "--store", "memory://", typed="a\x00b\na pear\n")

    assert result.stderr.startswith("✗ ")
    assert "ask → pay" in result.stdout


def test_slash_commands_show_the_session(folder: Path) -> None:
    before = "/help\n/audit\n/context\n"
    after = "/state\n/history\n/versions\n/audit\n/context item\n/quit\nfail\n"
    typed = f"{before}help\na pear\n{after}"

    shown = run("chat", "orders:Orders", "-s", "a", "--store", "memory://s", typed=typed).stdout

    for name in ("help", "state", "history", "versions", "rollback N", "context [NAME]", "quit"):
        assert f"/{name}" in shown
    assert "No transition has fired yet." in shown
    assert re.search(r"shop +corner", shown)
    assert re.search(r"pathway +pay", shown)
    assert re.search(r"1 +user +help", shown)
    assert re.search(r"2 +turn +pay +a pear", shown)
    assert re.search(r"1 +detour_entered +ask +help", shown)
    assert re.search(r"2 +ask +pear", shown)
    assert "something went wrong" not in shown  # nothing is read after /quit


def test_a_rollback_makes_a_new_version(folder: Path) -> None:
    typed = "a pear\n/rollback 0\n/versions\n/rollback 77\n/rollback soon\n/rollback\na pear\n"
    typed += f"/rollback {'9' * 5_000}\n"

    result = run("chat", "orders:Orders", "--store", "memory://", typed=typed)

    assert "Back to the state of version 0: in ask (this is version 2)." in result.stdout
    assert re.search(r"2 +rollback +ask +back to 0", result.stdout)
    assert result.stdout.count("ask → pay") == 2
    assert "no version 77" in result.stderr

    typed = "a pear\n/rollback 0\nhelp\n/history\n"
    shown = run("chat", "orders:Orders", "--store", "memory://", typed=typed).stdout
    assert re.search(r"1 +user \(taken back\) +a pear", shown)
    assert re.search(r"2 +rollback +── Back to version 0\. ──", shown)
    assert re.search(r"3 +user +help", shown)
    assert result.stderr.count("Give a version: /rollback N.") == 3


def test_mistyped_slash_commands_and_names_get_a_hint(folder: Path) -> None:
    typed = "/histroy\n/nothing\n/context shep\n"

    told = run("chat", "orders:Orders", "-s", "a", "--store", "memory://h", typed=typed).stderr

    assert "There is no command /histroy. Did you mean '/history'?" in told
    assert "There is no command /nothing. /help lists them." in told
    assert "The context has no value 'shep', now or before. Did you mean 'shop'?" in told


# ---- what cannot be done


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("healthcare-referral", "Did you mean 'healthcare_referral'? Examples: bank_transfer, "),
        ("orderz:Orders", "There is no module 'orderz'. Did you mean 'orders'?"),
        ("orders:Ordrs", "'orders' has no journey 'Ordrs'. Did you mean 'Orders'?"),
        ("orders:clerk", "'orders' has no journey 'clerk'."),
        ("../orders:Orders", "is not a valid module name"),
        (":", "There is no journey ':'."),
        ("", "There is no journey ''."),
    ],
)
@pytest.mark.parametrize("command", ["chat", "draw"])
def test_an_unknown_journey_is_answered_by_what_there_is(
    folder: Path, command: str, name: str, told: str
) -> None:
    assert told in run(command, name, code=2).stderr


@pytest.mark.parametrize("command", ["chat", "draw"])
def test_a_faulty_definition_is_told_whole(folder: Path, command: str) -> None:
    told = run(command, "broken:Broken", code=1).stderr

    assert len(told.splitlines()) == 2
    assert "broken.py:8: Broken.VerifyPath: __next__ is 'oder'" in told
    assert "__colour__ is unknown" in told


def test_a_module_that_cannot_be_read_is_told_with_its_line(folder: Path) -> None:
    assert run("chat", "typo:Typo", code=1).stderr.startswith("✗ typo.py:2: SyntaxError:")


def test_missing_agents_are_all_named_with_the_place_for_them(folder: Path) -> None:
    for words in (["chat", "bare:Bare", "--store", "memory://"], ["draw", "bare:Bare", "--graph"]):
        told = run(*words, code=1).stderr
        assert "'one' (in first)" in told
        assert "'two' (in first" in told
        assert "from a dict AGENTS in 'bare'" in told


def test_agents_that_are_no_dict_are_refused(folder: Path) -> None:
    (folder / "listed.py").write_text(BARE + "\nAGENTS = ['one', 'two']\n")

    assert "AGENTS in listed must be a dict" in run("chat", "listed:Bare", code=1).stderr


def test_an_abstract_journey_is_neither_talked_to_nor_drawn(folder: Path) -> None:
    assert "abstract" in run("chat", "bare:Base", "--store", "memory://", code=1).stderr
    assert "abstract" in run("draw", "bare:Base", code=1).stderr


@pytest.mark.parametrize(
    ("store", "code", "told"),
    [("redis://here", 2, "memory://"), ("sqlite:////no/such/folder/x.db", 1, "cannot be opened")],
)
def test_a_store_that_cannot_be_used_is_refused(
    folder: Path, store: str, code: int, told: str
) -> None:
    words = ("chat", "orders:Orders", "--store", store)

    assert told in run(*words, typed="a pear\n", code=code).stderr


def test_a_url_that_is_no_store_is_a_wrong_call_of_every_command(folder: Path) -> None:
    found = []
    made: Any = get_command(app)
    for name, about in made.commands.items():
        needed = ["x" for one in about.params if one.required]
        for option in ("--store", "--against"):
            if any(option in one.opts for one in about.params):
                refused = run(name, *needed, option, "foo://user:secret@here", code=2)
                assert f"Invalid value for '{option}'" in refused.stderr
                assert "secret" not in refused.output
                found.append(name)

    assert len(found) > 9


def test_a_session_id_that_is_no_name_is_refused(folder: Path) -> None:
    told = run("chat", "orders:Orders", "--store", "memory://", "-s", "a\nb", code=1).stderr

    assert "printable characters" in told


def test_what_nobody_foresaw_is_one_line_and_debug_shows_where(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "odd.py").write_text(BARE + "\ndef build_agents():\n    raise OSError(2, 'Gone')\n")
    (folder / "odder.py").write_text(BARE + "\ndef build_agents():\n    raise KeyError('who')\n")

    assert run("chat", "odd:Bare", code=1).stderr == "✗ Gone\n"
    assert run("chat", "odder:Bare", code=1).stderr == "✗ KeyError: 'who'\n"
    result = CliRunner().invoke(app, ["--debug", "chat", "odder:Bare"])
    assert "Traceback" not in result.stdout
    assert 'odder.py", line' in result.stderr


# ---- check


def test_check_reports_all_faults_and_warnings_of_a_folder(folder: Path) -> None:
    (folder / "flows").mkdir()
    (folder / "flows" / "lost.py").write_text("import nowhere_to_be_found\n" + BARE)
    (folder / "flows" / "leaves.py").write_text("import sys\nsys.exit(3)\n" + BARE)

    report = run("check", code=1).stdout

    assert "✓ Orders (orders.py): 3 pathways, 1 transition" in report
    assert "✓ Bare (bare.py)" in report
    assert "! bare.py:13: Bare.LostPath: nothing leads to 'lost'." in report
    assert "✗ broken.py:8: Broken.VerifyPath: __next__ is 'oder'" in report
    assert "✗ broken.py:9: Broken.VerifyPath: __colour__ is unknown" in report
    assert "✗ typo.py:2: SyntaxError" in report
    assert "✗ flows/lost.py:1: ModuleNotFoundError: No module named 'nowhere_to_be" in report
    assert "✗ flows/leaves.py: its import ends the program" in report
    assert report.splitlines()[-1] == "3 valid journeys, 5 faults, 1 warning."


@pytest.mark.parametrize("path", ["orders.py", "orders", "orders:Orders", "orders.py:Orders"])
def test_check_takes_a_file_a_module_or_a_class(folder: Path, path: str) -> None:
    shown = run("check", path).stdout

    assert "✓ Orders (orders.py): 3 pathways, 1 transition" in shown
    assert "1 valid journey, 0 faults, 0 warnings." in shown


@pytest.mark.parametrize("path", ["broken.py", "broken", "broken:Broken"])
def test_check_fails_on_faults_however_they_are_named(folder: Path, path: str) -> None:
    assert "0 valid journeys, 2 faults, 0 warnings." in run("check", path, code=1).stdout


def test_check_takes_an_example_and_the_package_of_all(folder: Path) -> None:
    assert "✓ ParcelRefund" in run("check", "parcel_refund").stdout
    whole = run("check", "journeygraph.journeys.examples").stdout
    assert "✓ ParcelRefund" in whole
    assert "✓ HealthcareReferral" in whole


def test_check_reads_packages_as_packages(folder: Path) -> None:
    package = folder / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("from shop.flow import Orders\n")
    (package / "base.py").write_text("WORD = 'help'\n")
    flow = f"from shop.base import WORD\n{ORDERS}"
    (package / "flow.py").write_text(flow.replace('["help"]', "[WORD]"))

    for path in ("shop", "shop/flow.py", "shop/__init__.py"):
        shown = run("check", path).stdout
        assert "✓ Orders (shop/flow.py)" in shown
        assert "1 valid journey, 0 faults" in shown


def test_check_keeps_neighbours_of_the_same_name_apart(folder: Path) -> None:
    for name in ("left", "right"):
        (folder / "pair" / name).mkdir(parents=True)
        (folder / "pair" / name / "words.py").write_text(f"{name} = ['agent']\n")
        source = BARE.replace("Bare", name.title()).replace('["two"]', "words." + name)
        (folder / "pair" / name / "flow.py").write_text("import words\n" + source)

    assert "4 valid journeys, 0 faults" in run("check", "pair").stdout


def test_check_passes_over_tests_environments_and_what_is_no_journey(folder: Path) -> None:
    for path in ("tests/flow.py", ".hidden/flow.py", "env/lib/flow.py", "test_flow.py"):
        (folder / "all" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "all" / path).write_text(BROKEN)
    (folder / "all" / "env" / "pyvenv.cfg").touch()
    (folder / "all" / "script.py").write_text("# about journeys\nraise RuntimeError\n")
    (folder / "all" / "orders.py").write_text(ORDERS)

    assert "1 valid journey, 0 faults" in run("check", "all").stdout
    assert "2 faults" in run("check", "all/test_flow.py", code=1).stdout


def test_check_of_nothing_is_no_success(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "notes.txt").touch()

    assert "There is no journey in empty." in run("check", "empty", code=1).stderr
    assert "no file, folder or module 'nope'" in run("check", "nope", code=2).stderr
    assert (
        "notes.txt is not a Python, YAML or JSON file" in run("check", "notes.txt", code=2).stderr
    )


# ---- draw


def test_draw_writes_mermaid_svg_or_text_as_it_is_made(folder: Path) -> None:
    assert run("draw", "parcel_refund").stdout == mermaid(ParcelRefund.spec)
    assert run("draw", "parcel_refund", "--format", "svg").stdout == svg(ParcelRefund.spec)
    assert run("draw", "parcel_refund", "-f", "text").stdout == text(ParcelRefund.spec)


def test_draw_writes_all_fields_of_a_long_form_if_asked(folder: Path) -> None:
    (folder / "long.py").write_text(
        "from journeygraph import Field, Journey, Pathway\n"
        "class Long(Journey):\n"
        "    class OnlyPath(Pathway):\n"
        "        __fields__ = [Field(f'value_{n}') for n in range(20)]\n"
    )

    for style in ("text", "svg", "mermaid"):
        short, full = (
            run("draw", "long.py", "-f", style, *more).stdout for more in ([], ["--full"])
        )
        assert ("value 19" in short, "+ 12 more" in short) == (False, True)
        assert ("value 19" in full, "more" in full) == (True, False)


def test_draw_takes_the_format_from_the_name_of_the_file(folder: Path) -> None:
    for name, drawn in (("a.svg", svg), ("a.txt", text), ("a.mmd", mermaid), ("a", mermaid)):
        assert run("draw", "parcel_refund", "-o", name).stdout == f"Written: {name}\n"
        assert (folder / name).read_text() == drawn(ParcelRefund.spec)


def test_draw_shows_the_graph_that_langgraph_runs(folder: Path) -> None:
    drawn = run("draw", "parcel_refund", "--graph").stdout

    assert drawn.startswith("---\nconfig:")
    for part in ("understand", "settle", "order_clerk", "refund_clerk", "policy_clerk"):
        assert part in drawn
    refused = run("draw", "parcel_refund", "--graph", "-f", "svg", code=2)
    assert "writes only Mermaid" in refused.stderr


def test_draw_says_where_it_cannot_write(folder: Path) -> None:
    told = run("draw", "parcel_refund", "-o", "no/such/a.svg", code=1).stderr

    assert told == "✗ no/such/a.svg: No such file or directory\n"


# ---- settings


def test_a_setting_that_is_none_is_named_as_it_was_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_DOCS", "perhaps")

    said = run("chat", code=1).stderr

    assert "JOURNEYGRAPH_DOCS: Input should be a valid boolean" in flat(said)
    assert "pydantic" not in said


def test_settings_come_from_the_environment_and_from_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = os.urandom(32)
    assert Settings().config().persistence == "sqlite:///journeys.db"
    (folder / ".env").write_text("JOURNEYGRAPH_STORE=sqlite:///of-file.db\nOTHER=1\n")
    assert Settings().config().persistence == "sqlite:///of-file.db"
    monkeypatch.setenv("JOURNEYGRAPH_STORE", "memory://of-environment")
    monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", base64.urlsafe_b64encode(key).decode())
    assert Settings().config().persistence == "memory://of-environment"
    assert Settings().config("memory://given").persistence == "memory://given"
    assert Settings().config().secret == key
    monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", "")
    assert Settings().config().encryption_key is None


@pytest.mark.parametrize("key", ["canary!", base64.b64encode(b"canary").decode(), "cänary"])
def test_a_key_that_is_none_is_refused_and_never_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", key)

    with pytest.raises(ConfigurationError, match="base64 text of exactly 32 bytes"):
        Settings().config()
    told = run("chat", "orders:Orders", code=1).output
    assert key not in told
    assert key not in repr(Settings())


# ---- the process itself


@pytest.mark.slow
def test_bytes_that_are_no_text_do_not_end_a_conversation(folder: Path) -> None:
    with start(folder, "chat", "parcel_refund") as talk:
        shown, told = talk.communicate(b"\xff\xfe oh\nIt is P-1042\n")

    assert talk.returncode == 0
    assert told == b""
    assert "Found P-1042" in shown.decode()


def test_an_interrupt_leaves_politely_and_the_session_stays(folder: Path) -> None:
    with start(folder, "chat", "parcel_refund", "--session", "mine") as talk:
        assert talk.stdin
        assert talk.stdout
        talk.stdin.write(b"It is P-1042\n")
        talk.stdin.flush()
        for line in talk.stdout:
            if "refund" in line.decode() and "→" in line.decode():
                break
        time.sleep(0.2)  # it waits for the next line now
        talk.send_signal(signal.SIGINT)
        rest, told = talk.communicate()

    assert talk.returncode == 0
    assert told == b""
    assert "journeygraph chat parcel_refund --session mine" in rest.decode()
    assert "continues in refund" in run("chat", "parcel_refund", "-s", "mine").stdout


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    with start(folder, "draw", "healthcare_referral", "-f", "svg") as drawing:
        assert drawing.stdout
        drawing.stdout.close()
        assert drawing.stderr
        assert drawing.stderr.read() == b""


# --- Only what a command needs ------------------------------------------------------------------

HEAVY: tuple[str, ...] = (
    "journeygraph.journeys",
    "journeygraph.nodes",
    "journeygraph.graphs",
    "langgraph",
    "langchain_core",
    "pydantic_settings",
)
HEAVY += ("rich.console", "sqlalchemy", "fastapi", "uvicorn", "mcp")
REPORT = f"print(*(name for name in {HEAVY} if name in sys.modules), file=sys.stderr)"


def test_versions_and_help_import_nothing_that_a_command_needs(folder: Path) -> None:
    """Each command's help too, and so the completion of its options."""
    code = f"""
import sys
from journeygraph.server.cli.command_line import app
from typer.testing import CliRunner
names = [command.name for command in app.registered_commands]
asked = [["--version"], ["--help"], *([name, "--help"] for name in names)]
assert all(CliRunner().invoke(app, words).exit_code == 0 for words in asked) and len(asked) > 14
{REPORT}
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("esc", {"escalations"}),
        pytest.param("check --ag", {"--against"}, marks=pytest.mark.slow),
        pytest.param("draw -f s", {"svg"}, marks=pytest.mark.slow),
    ],
)
def test_words_are_completed_without_running_a_command(
    folder: Path, typed: str, offered: set[str]
) -> None:
    line = f"journeygraph {typed}"
    asked = {"_JOURNEYGRAPH_COMPLETE": "complete_bash", "COMP_WORDS": line}
    asked["COMP_CWORD"] = str(len(line.split()) - 1)
    code = f"import atexit, sys; atexit.register(lambda: {REPORT}); "
    code += "import journeygraph.server.cli.__main__"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **asked},
        capture_output=True,
        text=True,
        check=True,
    )

    assert offered <= set(done.stdout.split())
    assert done.stderr.strip() == ""


@pytest.mark.slow
def test_an_mcp_client_is_answered_before_anything_is_loaded(folder: Path) -> None:
    """The offered journey has faults: no request has needed it yet."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    heavy = [
        name for name in HEAVY if name not in ("mcp", "journeygraph.journeys", "pydantic_settings")
    ]
    report = REPORT.replace(str(HEAVY), str(heavy))
    code = f"import atexit, sys; atexit.register(lambda: {report}); "
    code += "import journeygraph.server.cli.__main__"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "mcp", "broken.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(asked) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "journeygraph"
    assert set(done.stderr.split()) <= {"uvicorn"}, "which the SDK may bring along"


def test_what_cannot_be_offered_ends_the_server_once_it_is_asked_for(folder: Path) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    begun = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with start(folder, "mcp", "broken.py") as process:
        assert process.stdin
        assert process.stderr
        for message in (begun, ready, asked):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        said = process.stderr.read().decode()

    assert process.returncode == 1
    assert "Traceback" not in said
    assert "Broken.VerifyPath: __next__ is 'oder'" in flat(said)


# --- Terminals of 60, 80 and 120 columns ---------------------------------------------------------

WIDTHS = (60, 80, 120)
COMMANDS = [[], *([str(command.name)] for command in app.registered_commands)]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_is_wrapped_between_words(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = {}
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        with pytest.raises(SystemExit):
            get_command(app)([*words, "--help"], prog_name="journeygraph")
        shown[width] = capsys.readouterr().out

    for width, page in shown.items():
        assert flat(page) == flat(shown[120])
        assert max(map(len, page.splitlines())) <= width
    _, *paragraphs = shown[120].partition("\n\nArguments:")[0].split("\n\n")
    for paragraph in [one for one in paragraphs if re.match(r"  \w.*[^:]\n", one)]:
        first, *others = paragraph.splitlines()
        assert not others or len(first) + len(others[0].split()[0]) >= 115


def test_usage_writes_each_argument_once_and_in_capitals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    usages = []
    for words in COMMANDS:
        with pytest.raises(SystemExit):
            get_command(app)([*words, "--help"], prog_name="journeygraph")
        usages.append(capsys.readouterr().out.partition("\n\n")[0])

    assert "Usage: journeygraph serve [OPTIONS] [JOURNEY]..." in usages
    for usage in usages:
        assert not re.search(r"\[\[|\.\.\.\W*\.\.\.|[\[{][a-z]", usage), usage


def test_help_of_check_lists_its_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        get_command(app)(["check", "--help"], prog_name="journeygraph")

    page = capsys.readouterr().out
    assert "\n  Exit code 0: no fault; warnings are possible. 1: faults," in page
    assert "2: an unknown name or store." in flat(page)
    assert not re.search(r"\S {2,}\S", page.partition("Arguments:")[0])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["audit"], "Give the id of a session, or --review."),
        (["audit", "ada", "--review"], "Give the id of a session, or --review, not both."),
        (["schema", "jurney"], "Invalid value for 'KIND': 'jurney' is not one of 'journey',"),
    ],
)
def test_a_wrong_call_is_refused_with_the_way_out(
    folder: Path, words: list[str], error: str
) -> None:
    done = run(*words, code=2)

    assert error in flat(done.stderr)


def shown_at(width: int, folder: Path, *words: str, typed: str = "") -> str:
    """Return all that the command writes where a terminal has so many columns."""
    with start(folder, *words, env={"COLUMNS": str(width)}) as process:
        out, err = process.communicate(typed.encode())
    return str((out + err).decode())


DIFFERS = """
conversation: a pear is ordered in a conversation with a rather long title
journey: orders.py
turns: [{user: a pear please}, {bot: {context: {item: pear}, pathway: help}}]
"""
TALK = "the pear please\n/state\n/history\n/context\n/audit\n/versions\n/help\n/fields\n/nothing\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["chat", "orders.py", "--session", "a-session-with-a-long-name"],
        ["audit", "a-session-with-a-long-name"],
        ["check", "."],
        ["check", "orders.py", "--against", "sqlite:///journeys.db"],
        ["run"],
        ["demo", "parcel_refund", "--fast"],
        ["chat", "nothing_of_this_name"],
        ["escalations", "--status", "lost"],
        ["check", "--agains", "sqlite:///a-store-with-a-rather-long-name.db"],
        ["audit", "a-session", "--limit", "a-number-of-turns-that-is-none-at-all"],
        ["audit", "a-session", "--store", "a-store://with-a-rather-long-name-of-its-scheme"],
        ["record", "a-session-that-nobody-has-ever-seen-in-this-store"],
        ["test", "a-folder-that-is-none", "--junit", "outcomes.xml"],
        ["test", "orders.conversation.yaml", "--coverage"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_word_of_what_is_written_is_broken(folder: Path, words: list[str]) -> None:
    run("chat", "orders.py", "--session", "a-session-with-a-long-name", typed=TALK)
    (folder / "orders.conversation.yaml").write_text(DIFFERS)
    written = {width: shown_at(width, folder, *words, typed=TALK) for width in (60, 120)}

    whole = set(written[120].split())
    for width, page in written.items():
        moments = {word for word in page.split() if re.search(r"\d", word)}
        pictured = re.compile("[─│┌└▼●┄]")
        lines = [line for line in page.splitlines() if not pictured.search(line)]
        broken = set(re.findall(r"\S*\w\S*", " ".join(lines))) - whole - moments
        assert not {word for word in broken if word.rstrip(":") not in HEADINGS}
        too_long = [line for line in lines if len(line.rstrip()) > width]
        assert [line for line in too_long if not TO_COPY.match(line)] == []


HEADINGS = {"turn", "who", "what", "was", "said", "from", "to", "why", "version", "kind", "name"}
HEADINGS |= {"pattern", "it", "does", "pathway", "message", "value"}
TO_COPY = re.compile("Continue with: |Error: |(talk to|draw|change|check) it +")


# --- For programs --------------------------------------------------------------------------------


def test_check_is_written_for_programs(folder: Path) -> None:
    (folder / "rules.yaml").write_text("guidelines:\n  - {condition: a, action: b}\n")
    (folder / "trip.yaml").write_text("id: trip\nstates: {a: {action: b, timeout: soon}}\n")

    faulty = json.loads(run("check", ".", "--json", code=1).stdout)
    sound = json.loads(run("check", "orders.py", "--json").stdout)
    nothing = run("check", str(folder / "rules.yaml"), "--json")

    assert {journey["id"] for journey in faulty["journeys"]} == {"orders", "base", "bare"}
    assert any("Broken.VerifyPath" in fault["text"] for fault in faulty["faults"])
    assert all(fault["message"] in fault["text"] for fault in faulty["faults"])
    assert {
        "text": 'trip.yaml:2:34: timeout is "soon"; it must be a number.',
        "message": 'timeout is "soon"',
        "remedy": "it must be a number.",
        "path": ["states", "a", "timeout"],
        "place": {"file": "trip.yaml", "line": 2, "column": 34},
    } in faulty["faults"]
    assert sound["faults"] == []
    assert sound["journeys"][0] | {"warnings": []} == {
        "id": "orders",
        "name": "Orders",
        "file": "orders.py",
        "pathways": 3,
        "transitions": 1,
        "warnings": [],
    }
    assert json.loads(nothing.stdout)["guidelines"] == [{"file": "rules.yaml", "number": 1}]


def test_check_writes_warnings_and_faults_of_classes_as_data(folder: Path) -> None:
    (folder / "faq.yaml").write_text(
        "id: faq\nstates:\n  answer: {complete_when: [age]}\n  lost: {say: Hi.}\n"
        "escalation: {when_collected: true}\n"
    )

    found = json.loads(run("check", ".", "--json", code=1).stdout)

    warnings = {j["id"]: j["warnings"] for j in found["journeys"]}
    assert {
        "text": "bare.py:13: Bare.LostPath: nothing leads to 'lost'.",
        "message": "nothing leads to 'lost'.",
        "remedy": "",
        "path": [],
        "place": {"file": "bare.py", "line": 13, "column": 1},
    } in warnings["bare"]
    assert {
        "text": "faq.yaml:3:27 state 'answer': complete_when needs 'age', which no state "
        "accumulates. Accumulate it, or pass it to start().",
        "message": "complete_when needs 'age', which no state accumulates.",
        "remedy": "Accumulate it, or pass it to start().",
        "path": ["complete_when"],
        "place": {"file": "faq.yaml", "line": 3, "column": 27},
    } in warnings["faq"]
    assert [one["place"] for one in warnings["faq"] if one["path"] == ["escalation"]] == [
        {"file": "faq.yaml", "line": 5, "column": 13}
    ]
    [fault] = [one for one in found["faults"] if one["path"] == ["__next__"]]
    assert fault["message"] == "__next__ is 'oder', which is not a pathway of this journey."
    assert fault["place"] == {"file": "broken.py", "line": 8, "column": 1}


def test_check_tells_programs_of_the_sessions_that_would_be_moved(folder: Path) -> None:
    run("chat", "orders.py", "--session", "s-1", typed="a pear please\n")
    renamed = ORDERS.replace("PayPath", "TillPath").replace("pay", "till")
    (folder / "orders.py").write_text(renamed)
    for name in [name for name in sys.modules if name.startswith("journey_file_")]:
        del sys.modules[name]

    told = run("check", "orders.py", "--against", "sqlite:///journeys.db", "--json", code=1).stdout

    [compared] = json.loads(told)["stored_sessions"]
    assert compared["moves"] == [{"pathway": "pay", "goes_to": "ask", "sessions": ["s-1"]}]


def test_the_last_state_of_a_conversation_is_written_for_programs(folder: Path) -> None:
    held = run("chat", "orders.py", "--session", "s-1", "--json", typed="a pear please\n")
    again = run("chat", "orders.py", "--session", "s-1", "--json", typed="")
    never = run("chat", "orders.py", "--json", typed="")

    state = json.loads(held.stdout)
    assert state["session_id"] == "s-1"
    assert state["pathway_id"] == "pay"
    assert state["context"] == {"shop": "corner", "item": "pear"}
    assert "you > a pear please" in held.stderr
    assert json.loads(again.stdout) == state | {"message": ""}
    assert json.loads(never.stdout) is None


def test_definitions_are_listed_for_programs(folder: Path) -> None:
    (folder / "desk.yaml").write_text("id: desk\nstates:\n  talk: {say: Hello.}\n")
    run("load", "desk.yaml")

    told = json.loads(run("definitions", "--json").stdout)

    [definition] = told["definitions"]
    assert told["next"] is None
    assert definition["id"] == "desk"
    assert (definition["kind"], definition["version"]) == ("journey", 1)


# --- Extras that are not installed ---------------------------------------------------------------

DRIVERS = ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres", "redis")


def without_drivers(folder: Path, *commands: tuple[list[str], dict[str, str]]) -> list[Any]:
    """Run commands in an environment like one without the extras `postgres` and `redis`.

    Return the exit code, the output and the errors of each.
    """
    code = f"""
import json, sys
sys.modules.update(dict.fromkeys({DRIVERS}))
from journeygraph.server.cli.command_line import app
from journeygraph.server.cli.terminal.rendering import progress
from typer.testing import CliRunner
for words, variables in {commands}:
    done = CliRunner().invoke(app, words, env=variables, input="a pear please\\n")
    print(json.dumps([done.exit_code, done.stdout, done.stderr]))
"""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.slow
def test_without_the_drivers_of_servers_a_journey_runs_and_a_server_names_its_extra(
    folder: Path,
) -> None:
    postgres, redis = "postgresql://localhost/shop", "redis://localhost"
    served: list[tuple[list[str], dict[str, str], str]] = [
        (["chat", "orders.py", "--store", postgres], {}, "postgres"),
        (["migrate", "--store", postgres], {}, "postgres"),
        (["audit", "--review"], {"DATABASE_URL": postgres}, "postgres"),
        (["serve", "orders.py"], {"JOURNEYGRAPH_REDIS_URL": redis}, "redis"),
        (["definitions"], {"JOURNEYGRAPH_REDIS_URL": redis}, "redis"),
    ]
    alone: list[tuple[list[str], dict[str, str]]] = [
        (["chat", "orders.py", "--store", store], {})
        for store in ("memory://", "sqlite:///orders.db")
    ]

    done = without_drivers(folder, *alone, *[(words, given) for words, given, _ in served])

    assert len(done) == 7
    for status, written, errors in done[:2]:
        assert status == 0, errors
        assert "journey complete" in written or "pay" in written
    for (status, _, errors), (*_, extra) in zip(done[2:], served, strict=True):
        assert status == 1
        assert "Traceback" not in errors
        assert f"pip install 'journeygraph[{extra}]'" in errors


# ---- progress of long commands

ORDERED = """
conversation: an order
journey: orders.py
turns:
  - user: a pear
  - bot: {pathway: pay}
"""


@pytest.fixture
def on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the output for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(err, "is_interactive", True)  # rich decides that once, at the import


def played(folder: Path, *words: str) -> Any:
    (folder / "one.conversation.yaml").write_text(ORDERED)
    (folder / "two.conversation.yaml").write_text(ORDERED)
    return run("test", ".", *words)


def test_without_a_terminal_the_lines_of_a_command_are_its_progress(folder: Path) -> None:
    result = played(folder)

    assert [line[:5] for line in result.stdout.splitlines()[:2]] == ["✓ one", "✓ two"]
    assert result.stderr == ""


@pytest.mark.usefixtures("on_terminal")
def test_on_a_terminal_a_bar_is_on_standard_error(folder: Path) -> None:
    result = played(folder)

    assert "Playing" in result.stderr
    assert "100%" in result.stderr
    assert "Playing" not in result.stdout
    assert result.stdout.count("an order") == 2


@pytest.mark.usefixtures("on_terminal")
def test_a_bar_is_not_in_the_output_for_programs(folder: Path) -> None:
    result = played(folder, "--json")

    assert len(json.loads(result.stdout)["conversations"]) == 2
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("total", "lines"),
    [
        (3, ["Reading: 0 of 3, a[b].yaml", "Reading: 1 of 3", "Reading: 2 of 3"]),
        (None, ["Reading: a[b].yaml", "Reading: 1", "Reading: 2"]),
    ],
)
def test_steps_are_lines_without_a_terminal(
    total: int | None, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("Reading", total, pause=0) as step:
        step("a[b].yaml", done=0)
        step()
        step()
    with progress("Reading", total) as step:
        step("too soon for a line")

    shown = capsys.readouterr()
    assert shown.err.splitlines() == lines
    assert shown.out == ""


@pytest.mark.usefixtures("on_terminal")
def test_loading_shows_the_files_on_a_terminal(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(f"id: {name}\nstates: {{talk: {{say: Hello.}}}}\n")

    loaded = run("load", "a.yaml", "b.yaml", "--store", f"sqlite:///{folder}/kept.db")

    assert "Reading" in loaded.stderr
    assert "100%" in loaded.stderr
    assert "Reading" not in loaded.stdout
