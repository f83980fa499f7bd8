"""Every setting of a session can be set, is named by its place where it is wrong, and is shown."""

from __future__ import annotations

import base64
import dataclasses
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeygraph import ConfigurationError, JourneyConfig, Texts
from journeygraph.server.http.app_state import wire
from journeygraph.server.scripted import ScriptedServer
from journeygraph.server.settings import Settings, known_settings
from tests.support.command import ROOT, flat, folder, logging_as_before, run, served

__all__ = ["folder", "logging_as_before"]

KEY = bytes(range(32))
WRITTEN: Mapping[str, Any] = {
    "persistence": "memory://elsewhere",
    "context_persistence": "memory://elsewhere",
    "prunable": "notes, orders",
    "error_recovery": "fail_fast",
    "when_busy": "reject",
    "language": "de",
    "region": "DE",
    "timezone": "Europe/Berlin",
    "first_day": "sunday",
    "date_order": "mdy",
    "decimal_sign": ",",
    "clock": "24h",
    "encryption_key": base64.b64encode(KEY).decode(),
    "escalation_webhook": "https://desk.example/calls",
    "escalation_secret": "a secret of many letters",
    "texts": {"apology": "Oh dear."},
}
"""How settings that take only certain values are written; the others are made of their defaults."""
MEANT: Mapping[str, Any] = {
    "prunable": ("notes", "orders"),
    "texts": Texts(apology="Oh dear."),
}


def sample(item: dataclasses.Field[Any]) -> Any:
    """A value other than the default."""
    if item.name in WRITTEN:
        return WRITTEN[item.name]
    if isinstance(item.default, bool):
        return not item.default
    if isinstance(item.default, int):
        return item.default + 1
    return item.default / 2 if isinstance(item.default, float) else "other"


def literal(value: Any) -> str:
    """A value in TOML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {literal(item)}" for key, item in value.items()) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def refused(**given: Any) -> str:
    with pytest.raises(ConfigurationError) as raised:
        Settings(**given).config()
    return str(raised.value)


def words(line: str) -> list[str]:
    return line.split()


def write_keys(file: Path, keys: Mapping[str, str]) -> None:
    header = '[project]\nname = "x"\n\n[tool.journeygraph]\n' if file.stem == "pyproject" else ""
    file.write_text(header + "".join(f"{name} = {value}\n" for name, value in keys.items()))


FIELDS = [item for item in dataclasses.fields(JourneyConfig) if item.name != "context_persistence"]
SECRETS = [item.name for item in FIELDS if not item.repr]


# ---- each of them can be set


@pytest.mark.parametrize("place", ["environment", ".env", "journeygraph.toml", "pyproject.toml"])
def test_every_setting_reaches_the_journeys_that_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    variables: dict[str, str] = {}
    keys: dict[str, str] = {}
    by_files = place.endswith("toml")
    for item in FIELDS:
        setting, value = known_settings()[item.name], sample(item)
        if setting.is_table or (by_files and not setting.is_secret):
            keys[item.name] = literal(value)
        else:
            variables[setting.variable] = str(value)
    write_keys(folder / (place if by_files else "journeygraph.toml"), keys)
    if place == "environment":
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
    else:
        lines = [f'{name}="{value}"' for name, value in variables.items()]
        (folder / ".env").write_text("\n".join(lines))

    app_state = wire(Settings(), ["orders.py"])
    running = app_state.manager(app_state.journeys["orders"], "s-1").config

    for item in FIELDS:
        assert getattr(running, item.name) == MEANT.get(item.name, sample(item)), item.name


def test_the_old_name_of_the_store_can_be_set_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_CONTEXT_PERSISTENCE", "memory")

    assert Settings().config().persistence == "memory://"


def test_what_counts_more_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pyproject.toml").write_text("[tool.journeygraph]\nmax_retries = 5\n")
    seen = [Settings().config().max_retries]
    (folder / "journeygraph.toml").write_text("max_retries = 6\n")
    seen.append(Settings().config().max_retries)
    (folder / ".env").write_text("JOURNEYGRAPH_MAX_RETRIES=7\n")
    seen.append(Settings().config().max_retries)
    monkeypatch.setenv("JOURNEYGRAPH_MAX_RETRIES", "8")
    seen.append(Settings().config().max_retries)
    seen.append(Settings(max_retries=9).config().max_retries)

    assert seen == [5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("toml", "variables", "store"),
    [
        ('persistence = "memory://t"', {}, "memory://t"),
        ('store = "memory://t"', {}, "memory://t"),
        ('persistence = "memory://t"', {"JOURNEYGRAPH_STORE": "memory://e"}, "memory://e"),
        ('store = "memory://t"', {"JOURNEYGRAPH_PERSISTENCE": "memory://e"}, "memory://e"),
        ('store = "memory://t"', {"DATABASE_URL": "memory://e"}, "memory://e"),
        ('persistence = "memory://t"', {"JOURNEYGRAPH_CONTEXT_PERSISTENCE": "memory"}, "memory://"),
    ],
)
def test_a_setting_with_two_names_is_one_setting(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    toml: str,
    variables: dict[str, str],
    store: str,
) -> None:
    (folder / "journeygraph.toml").write_text(toml)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert Settings().config().persistence == store


def test_texts_of_both_files_come_together(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.journeygraph.texts]\napology = "Project."\nclosing = "Bye."\n'
    )
    (folder / "journeygraph.toml").write_text('[texts]\napology = "Own."\n')

    texts = Settings().config().texts

    assert (texts.apology, texts.closing) == ("Own.", "Bye.")


@pytest.mark.parametrize("written", ["notes,orders", " notes , orders ,"])
def test_a_list_is_parted_by_commas(
    folder: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_PRUNABLE", written)

    assert Settings().config().prunable == ("notes", "orders")


def test_a_config_made_in_python_reads_no_settings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "journeygraph.toml").write_text("max_retries = 6\n")
    monkeypatch.setenv("JOURNEYGRAPH_REGION", "DE")

    assert JourneyConfig() == JourneyConfig(max_retries=3, region="auto")


# ---- all commands


def test_chat_and_demo_take_settings(folder: Path) -> None:
    (folder / "journeygraph.toml").write_text('[texts]\napology = "Oh dear, oh dear."\n')
    source = (folder / "orders.py").read_text()
    (folder / "orders.py").write_text(f'{source}\nDEMO_MESSAGES = ["fail"]\n')

    assert "Oh dear, oh dear." in run("chat", "orders.py", typed="fail\n").stdout
    assert "Oh dear, oh dear." in flat(run("demo", "orders.py", "--fast").stdout)


def test_serve_takes_settings(folder: Path) -> None:
    (folder / "journeygraph.toml").write_text(
        'persistence = "memory://"\n[texts]\napology = "Oh dear, oh dear."\n'
    )
    with served(folder, "orders.py") as (_, place, lines):
        httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"}).raise_for_status()
        answer = httpx2.post(f"{place}/v1/sessions/s-1/messages", json={"message": "fail"})

    assert answer.json()["message"] == "Oh dear, oh dear."
    assert "Store: memory://\n" in lines


PIPELINE = '''
from journeygraph import InputField, ModelAgent, OutputField, Pipeline, Signature


class Answer(Signature):
    """Answer."""

    message: str = InputField(description="What was asked")
    response: str = OutputField(description="The answer")


PIPELINE = Pipeline.sequential([ModelAgent(signature=Answer)])
'''


def test_a_pipeline_that_is_run_takes_settings(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "asked.py").write_text(PIPELINE)
    (folder / "journeygraph.toml").write_text('agent_model = "house"\n')
    with ScriptedServer({"response": "Good day."}) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        shown = run("run", "asked.py", "hello").stdout

    assert [call.model for call in server.calls] == ["house"]
    assert "house is" in flat(shown)
    assert "Good day." in shown


STUDIO = """
import asyncio
from journeygraph.server import studio
given = {"messages": [{"role": "user", "content": "My card was stolen"}]}
asyncio.run(studio.support_triage.ainvoke(given))
asyncio.run(studio.healthcare_referral.ainvoke(given))
"""


@pytest.mark.slow
def test_studio_takes_settings(folder: Path) -> None:
    (folder / "journeygraph.toml").write_text(
        'agent_model = "house"\nintent_detection_model = "house"\nvalidation_model = "house"\n'
        'error_recovery = "fail_fast"\n'
    )
    with ScriptedServer(always={"response": "Good day."}) as server:
        (folder / ".env").write_text(f"OPENAI_API_KEY=any\nOPENAI_BASE_URL={server.url}\n")
        command = [sys.executable, "-c", STUDIO]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin"}
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
        asked = {call.model for call in server.calls}

    assert asked == {"house"}


# ---- what is refused


@pytest.mark.parametrize(
    ("file", "text", "place"),
    [
        (".env", "\nJOURNEYGRAPH_AGENT_MODLE=x\n", "JOURNEYGRAPH_AGENT_MODLE in .env"),
        (".env", "export JOURNEYGRAPH_AGENT_MODLE=x", "JOURNEYGRAPH_AGENT_MODLE in .env"),
        (
            "journeygraph.toml",
            "# my own\nagent_modle = 1",
            "agent_modle in journeygraph.toml",
        ),
        ("journeygraph.toml", "agent-model = 'x'", "agent-model in journeygraph.toml"),
        ("journeygraph.toml", "\n[agent_modle]\nx = 1", "agent_modle in journeygraph.toml"),
        (
            "pyproject.toml",
            "agent_modle = 0\n[tool.journeygraph]\nmax_retries = 1\nagent_modle = 'x'",
            "agent_modle in pyproject.toml",
        ),
    ],
)
def test_a_name_that_is_no_setting_is_refused_with_its_place(
    folder: Path, file: str, text: str, place: str
) -> None:
    (folder / file).write_text(text)

    said = run("chat", "orders.py", code=1).stderr

    assert f"{place}: unknown setting. Did you mean" in flat(said)
    assert "agent_model" in said.lower()


def test_a_text_that_there_is_not_is_refused(folder: Path) -> None:
    (folder / "journeygraph.toml").write_text("[texts]\nclosing = 'Bye.'\napologie = 'Oh.'\n")

    assert refused() == (
        "texts in journeygraph.toml: unknown setting texts.apologie. Did you mean 'apology'?"
    )


@pytest.mark.parametrize("command", [["serve"], ["mcp"], ["demo"], ["run", "support_triage"]])
def test_every_command_refuses_a_variable_that_is_no_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_MAX_RETRYS", "3")

    said = flat(run(*command, code=1).stderr)

    assert "JOURNEYGRAPH_MAX_RETRYS: unknown setting." in said
    assert "Did you mean 'JOURNEYGRAPH_MAX_RETRIES'?" in said


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JOURNEYGRAPH_PORT", "tcp://10.0.0.1:80"),
        ("JOURNEYGRAPH_PORT", "udp://[fd00::1]:53"),
        ("JOURNEYGRAPH_SERVICE_HOST", "10.0.0.1"),
        ("JOURNEYGRAPH_SERVICE_PORT", "80"),
        ("JOURNEYGRAPH_SERVICE_PORT_HTTP", "80"),
        ("JOURNEYGRAPH_SERVICE_PORT_HTTP_METRICS", "9090"),
        ("JOURNEYGRAPH_PORT_8000_TCP", "tcp://10.0.0.1:8000"),
        ("JOURNEYGRAPH_PORT_8000_TCP_ADDR", "10.0.0.1"),
        ("JOURNEYGRAPH_PORT_8000_TCP_PORT", "8000"),
        ("JOURNEYGRAPH_PORT_8000_TCP_PROTO", "tcp"),
        ("JOURNEYGRAPH_REDIS_PORT", "tcp://10.0.0.2:6379"),
        ("JOURNEYGRAPH_REDIS_SERVICE_HOST", "10.0.0.2"),
        ("JOURNEYGRAPH_STORE_PORT_5432_TCP_ADDR", "10.0.0.3"),
        ("JOURNEYGRAPH_NAME", "/web/journeygraph"),
        ("JOURNEYGRAPH_ENV_PATH", "/usr/bin"),
    ],
)
def test_what_kubernetes_and_docker_inject_is_no_setting_and_no_fault(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert Settings().config() == JourneyConfig()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JOURNEYGRAPH_PORT", "8000"),
        ("JOURNEYGRAPH_NAME", "desk"),
        ("JOURNEYGRAPH_SERVICE", "10.0.0.1"),
        ("JOURNEYGRAPH_HOST", "0.0.0.0"),
    ],
)
def test_what_only_looks_like_it_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert refused().startswith(f"{name}: unknown setting.")


@pytest.mark.parametrize("name", [*SECRETS, "api_keys", "redis_url", "openai_api_key"])
@pytest.mark.parametrize("file", ["journeygraph.toml", "pyproject.toml"])
def test_a_secret_in_a_file_for_everyone_is_refused_and_not_shown(
    folder: Path, name: str, file: str
) -> None:
    header = "[tool.journeygraph]\n" if file == "pyproject.toml" else "\n"
    (folder / file).write_text(f'{header}{name} = "tulip"\n')

    said = flat(run("chat", "orders.py", code=1).stderr)

    assert f"{name} in {file}: a secret or password is not allowed in this file" in said
    assert f"Set {known_settings()[name].variable} in the environment or in .env." in said
    assert "tulip" not in said


@pytest.mark.parametrize("name", ["persistence", "store", "context_persistence"])
def test_a_password_in_a_file_for_everyone_is_refused_and_not_shown(
    folder: Path, name: str
) -> None:
    (folder / "journeygraph.toml").write_text(f'{name} = "postgresql://me:tulip@db/journeys"\n')

    said = refused()

    assert said.startswith(f"{name} in journeygraph.toml: a secret or password is not allowed")
    assert "tulip" not in said


@pytest.mark.parametrize("name", ["database_url", "openai_base_url"])
def test_what_has_a_variable_alone_is_no_key(folder: Path, name: str) -> None:
    (folder / "journeygraph.toml").write_text(f'{name} = "memory://"\n')

    assert f"Set {name.upper()} in the environment or in .env" in refused()


def test_a_table_is_no_variable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_TEXTS", '{"apology": "Oh."}')

    said = refused()

    assert said.startswith("JOURNEYGRAPH_TEXTS: texts is ")
    assert said.endswith("write it as [texts] in journeygraph.toml.")


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("MAX_RETRIES", "many", "max_retries is 'many'; it must be a whole number from 0 to 100."),
        ("MAX_RETRIES", "1000", "max_retries is 1000; it must be a whole number from 0 to 100."),
        ("REGION", "germany", "such as 'US' or 'DE'"),
        ("TIMEZONE", "Berlin", "such as 'Europe/Berlin'"),
        ("ERROR_RECOVERY", "gracefull", "Did you mean 'graceful'?"),
        ("STORE", "postgresql://me:tulip@a@db/x", "in a password"),
        ("STORE", "mysql://me:tulip@db/x", "mysql://me:***@db/x"),
        ("ESCALATION_WEBHOOK", "https://tulip:tulip@desk.example", "must be a URL"),
        ("LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("DEFINITIONS", "perhaps", "valid boolean"),
    ],
)
def test_a_value_that_is_none_is_named_with_its_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    name = f"JOURNEYGRAPH_{variable}"
    monkeypatch.setenv(name, value)
    by_variable = flat(run("chat", "orders.py", code=1).stderr)
    monkeypatch.delenv(name)
    (folder / ".env").write_text(f"OTHER=1\n{name}={value}\n")
    by_file = flat(run("chat", "orders.py", code=1).stderr)

    assert by_variable.startswith(f"✗ {name}: ")
    assert by_file.startswith(f"✗ {name} in .env: ")
    for said in (by_variable, by_file):
        assert says in said
        assert "tulip" not in said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("max_retries = true", "max_retries is True; it must be a whole number"),
        ("max_retries = 2.5", "max_retries is 2.5; it must be a whole number"),
        ("agent_model = 5", "agent_model is 5; it must be the name of a model"),
        ("region = 1", "such as 'US' or 'DE'"),
        ("persistence = []", "is not a supported store"),
        ("prunable = 3", "prunable must be a list of context names"),
        ("texts = 'Oh.'", "texts is 'Oh.'"),
        ("texts.apology = ' '", "texts.apology is ' '; it must not be empty."),
        ("texts.apology = 5", "texts.apology is 5; it must not be empty."),
        ("texts.apology = '{nobody}'", "texts.apology"),
        ("docs = 'perhaps'", "valid boolean"),
        ("log_level = 3", "'debug', 'info', 'warning' or 'error'"),
        ("JOURNEYGRAPH_MAX_RETRIES = 3", "Did you mean 'max_retries'?"),
        ("OPENAI_API_KEY = 'x'", "a secret or password is not allowed in this file"),
        ("escalation_webhook = 'x'", "a secret or password is not allowed in this file"),
    ],
)
def test_a_value_that_is_none_is_named_with_its_file(folder: Path, line: str, says: str) -> None:
    (folder / "journeygraph.toml").write_text(f"\n{line}\n")

    said = flat(run("chat", "orders.py", code=1).stderr)

    assert "in journeygraph.toml: " in said
    assert says in said


def test_two_values_that_do_not_go_together_are_both_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_ESCALATION_WEBHOOK", "https://desk.example/tulip")
    monkeypatch.setenv("JOURNEYGRAPH_ESCALATION_SECRET", "tulip")

    said = refused()

    assert "JOURNEYGRAPH_ESCALATION_SECRET" in said
    assert "16 characters or more" in said
    assert "tulip" not in said


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("journeygraph.toml", "max_retries = ", "journeygraph.toml is not valid TOML: "),
        ("pyproject.toml", "[tool", "pyproject.toml is not valid TOML: "),
        ("pyproject.toml", "tool.journeygraph = 5", "[tool.journeygraph] must be a table"),
        ("pyproject.toml", "tool = 5", "[tool.journeygraph] must be a table"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(folder: Path, file: str, text: str, says: str) -> None:
    (folder / file).write_text(text)

    assert says in flat(run("chat", "orders.py", code=1).stderr)


def test_bytes_that_are_no_text_are_no_toml(folder: Path) -> None:
    (folder / "journeygraph.toml").write_bytes(b"agent_model = '\xff'\n")

    assert "journeygraph.toml is not valid TOML" in refused()


def test_bytes_that_are_no_text_are_no_env_file(folder: Path) -> None:
    (folder / ".env").write_bytes(b"\xff\xfeJ\x00")

    assert refused().startswith(".env is not UTF-8 text: ")


def test_an_env_file_may_begin_with_a_byte_order_mark_and_end_lines_as_windows_does(
    folder: Path,
) -> None:
    (folder / ".env").write_bytes(b"\xef\xbb\xbfJOURNEYGRAPH_KEEP_VERSIONS=600\r\n")

    assert Settings().config().keep_versions == 600


def test_a_secret_without_its_webhook_is_said_to_be_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_ESCALATION_SECRET", "a tulip of many letters")

    said = refused()

    assert "JOURNEYGRAPH_ESCALATION_SECRET" in said
    assert "but escalation_webhook is not" in said


# ---- what is shown


def test_a_key_in_the_address_of_a_model_is_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models.example/v1?api-key=tulip&a=b")

    shown = {name: value for name, value, _ in Settings().shown()}

    assert shown["openai_base_url"] == '"http://models.example/v1?api-key=***&a=b"'


def test_what_holds_is_shown_with_its_place_and_without_secrets(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pyproject.toml").write_text("[tool.journeygraph]\nmax_retries = 5\n")
    (folder / "journeygraph.toml").write_text('region = "DE"\n\n[texts]\napology = "Oh."\n')
    (folder / ".env").write_text("JOURNEYGRAPH_TIMEZONE=Europe/Berlin\nOPENAI_API_KEY=tulip\n")
    for name, value in {
        "DATABASE_URL": "postgresql://me:tulip@db/journeys",
        "JOURNEYGRAPH_API_KEYS": "tulip-tulip-tulip-tulip",
        "JOURNEYGRAPH_ENCRYPTION_KEY": base64.b64encode(KEY).decode(),
        "JOURNEYGRAPH_ESCALATION_WEBHOOK": "https://desk.example/tulip",
        "JOURNEYGRAPH_ESCALATION_SECRET": "tulip-tulip-tulip-tulip",
        "JOURNEYGRAPH_REDIS_URL": "redis://:tulip@cache:6379/0",
        "OPENAI_BASE_URL": "http://me:tulip@models.example/v1",
    }.items():
        monkeypatch.setenv(name, value)

    shown = run("serve", "--print-settings").stdout
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}

    assert rows["persistence"] == ['"postgresql://me:***@db/journeys"', "DATABASE_URL"]
    assert rows["max_retries"] == ["5", *words("max_retries in pyproject.toml")]
    assert rows["region"] == ['"DE"', *words("region in journeygraph.toml")]
    assert rows["texts.apology"] == ['"Oh."', *words("texts in journeygraph.toml")]
    assert rows["timezone"][1:] == words("JOURNEYGRAPH_TIMEZONE in .env")
    assert rows["keep_versions"] == ["100", "default"]
    for name in (*SECRETS, "api_keys", "redis_url", "openai_api_key"):
        assert rows[name][:3] == ["set,", "not", "shown"]
    assert rows["openai_base_url"][0] == '"http://me:***@models.example/v1"'
    assert "tulip" not in shown
    assert base64.b64encode(KEY).decode() not in shown
    listed = set(rows) | {"texts", "store", "database_url", "context_persistence"}
    assert set(known_settings()) <= listed


def test_arguments_are_shown_as_such(folder: Path) -> None:
    shown = run("serve", "--print-settings", "--store", "memory://x", "--definitions").stdout
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines()}

    assert rows["persistence"] == ['"memory://x"', "--store"]
    assert rows["definitions"][0] == "true"


def test_settings_that_are_wrong_are_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_REGION", "germany")

    assert "JOURNEYGRAPH_REGION: " in run("serve", "--print-settings", code=1).stderr
