"""The commands, their arguments and their help; each command imports its code when it runs."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, ParamSpec

import typer
from typer.core import TyperGroup

from journeygraph.server import installed_version, source_version

_P = ParamSpec("_P")
_LOG = logging.getLogger("journeygraph")
_JOURNEY = "A journey: id of an example, file.yaml, file.py, file.py:Class, module or module:Class."
_PIPELINE = "A pipeline: name of an example, file.py:attribute or module:attribute."
_TARGET = f"{_JOURNEY} {_PIPELINE}"
_THIS_MACHINE = "127.0.0.1"


def _store(url: str | None) -> str | None:
    if url:
        from journeygraph.journeys.errors import ConfigurationError
        from journeygraph.journeys.store_url import checked_store

        try:
            checked_store(url)
        except ConfigurationError as error:
            raise typer.BadParameter(str(error)) from None
    return url


Store = Annotated[
    str | None,
    typer.Option(
        help="The store: sqlite:///FILE, postgresql://... or memory://. Default: settings.",
        callback=_store,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(help="The tenant. Default: settings (JOURNEYGRAPH_TENANT), or default."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write only JSON.")]
Limit = Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number of entries per page.")]
After = Annotated[
    str | None,
    typer.Option(help="Continue after the previous page; its output has the value."),
]
Stubs = Annotated[
    Path | None,
    typer.Option(
        "--stubs",
        metavar="FILE",
        help="YAML file with results in place of functions: tools: {NAME: {gives: ...}}.",
    ),
]
Versions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JOURNEY",
        help="Another version of a JOURNEY, for sessions that began in it; may be repeated.",
    ),
]
Host = Annotated[
    str, typer.Option(help="Address to listen at; an address of the network needs API keys.")
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any free port.")]


class _Commands(TyperGroup):
    """The commands, each listed with its whole first sentence, wrapped between words."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        rows = [(name, _first_paragraph(self.commands[name].help)) for name in self.commands]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; messages about a wrong call are without the words of pydantic."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if said := getattr(error, "format_message", None):
                words = said().replace(": Value error,", ":")
                vars(error)["format_message"] = lambda: words
            raise


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].split())


app = typer.Typer(
    cls=_Commands,
    name="journeygraph",
    help="Run, serve, check and draw journeys: long conversations with a goal.",
    epilog="Start with: journeygraph demo. For a project of your own: journeygraph new NAME",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Help is wrapped between words, by the width of the terminal up to 120 columns.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)


def command(function: Callable[_P, None]) -> Callable[_P, None]:
    """Add a command; its errors become lines on standard error and an exit code."""

    @wraps(function)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except ModuleNotFoundError as error:
            raise typer.Exit(_told(_of_extra(error))) from None
        except Exception as error:
            raise typer.Exit(_told(error)) from None

    return app.command(function.__name__)(guarded)


def _of_extra(error: ModuleNotFoundError) -> Exception:
    from journeygraph.journeys.errors import extra_of, not_installed

    extra = extra_of(error)
    return not_installed("This", extra) if extra else error


def _told(error: Exception) -> int:
    from journeygraph.server.cli.terminal.rendering import say

    _LOG.debug("The command failed.", exc_info=error)
    say(error)
    return int(getattr(error, "exit_code", 1))


def _end(error: Exception) -> NoReturn:
    """End the process at once, because a thread waits for input of the client."""
    code = _told(error)
    sys.stderr.flush()
    os._exit(code)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"journeygraph {_version()}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Write the log to standard error, with tracebacks of errors."),
    ] = False,
) -> None:
    """Set up the options of all commands."""
    if debug:
        from journeygraph.server.logs import debug_log

        debug_log()
        return
    # Without a handler, Python would write warnings and tracebacks of the library to the terminal.
    logging.basicConfig(level=logging.WARNING, handlers=[logging.NullHandler()], force=True)
    _LOG.setLevel(logging.WARNING)


@command
def demo(
    name: Annotated[str, typer.Argument(metavar="JOURNEY", help=_JOURNEY)] = (
        "healthcare_referral"
    ),
    fast: Annotated[bool, typer.Option("--fast", help="Do not pause between words.")] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="Also write the picture to this file.")
    ] = None,
) -> None:
    """Run the example conversation of a journey and show what each turn changes.

    The messages are the DEMO_MESSAGES of its module. Nothing is stored; without a model
    configured, no network is used.
    """
    from journeygraph.server.cli.demo import demo

    demo(name, fast=fast, svg=svg)


@command
def new(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Name of the folder, the module and the journey: lower-case, a-z."
        ),
    ],
    example: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="EXAMPLE",
            help="Copy the journey, tools and conversations of this example.",
        ),
    ] = None,
    yaml: Annotated[
        bool, typer.Option("--yaml", help="Write the journey in YAML; Python has only its tools.")
    ] = False,
    deploy: Annotated[
        bool,
        typer.Option(
            "--deploy",
            help="Add the files of several servers: compose, Kubernetes, alerts and a dashboard.",
        ),
    ] = False,
) -> None:
    """Create a project of your own: a folder with a journey that runs at once.

    It has tools, tests, a notebook, the graph for LangGraph Studio, a Dockerfile, a workflow for a
    build server, and a README with all commands. Existing files are not changed.
    """
    if example is not None and yaml:
        raise typer.BadParameter("--from and --yaml exclude each other.")
    from journeygraph.server.cli.demo import new

    new(name, example, yaml=yaml, deploy=deploy)


@command
def chat(
    journey: Annotated[str, typer.Argument(metavar="JOURNEY", help=_JOURNEY)] = (
        "healthcare_referral"
    ),
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", help="Continue or start this session. Default: a new one."),
    ] = None,
    store: Store = None,
    stubs: Stubs = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write the last state as JSON; the conversation goes to standard error.",
        ),
    ] = False,
) -> None:
    """Hold a conversation with a journey in the terminal; every turn is stored.

    Lines can be piped in. /help lists the commands inside a conversation.
    """
    from journeygraph.server.cli.terminal.chat import chat

    chat(journey, session, store, stubs=stubs, as_json=as_json)


@command
def run(
    pipeline: Annotated[
        str | None,
        typer.Argument(
            metavar="PIPELINE", help=f"{_PIPELINE} Without it, the examples are listed."
        ),
    ] = None,
    message: Annotated[
        str | None,
        typer.Argument(
            metavar="MESSAGE",
            help="The message; '-' reads standard input. Default: its first sample.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a pipeline once, and show which agents work, fail, vote or are selected.

    Without a model configured, the examples run on functions over their material. Exit code 1: the
    pipeline failed as a whole.
    """
    from journeygraph.server.cli.run_pipeline import run

    run(pipeline, message, as_json=as_json)


@command
def serve(
    journeys: Annotated[
        list[str] | None,
        typer.Argument(metavar="JOURNEY", help=f"{_JOURNEY} Default: all examples."),
    ] = None,
    versions: Versions = None,
    host: Host = _THIS_MACHINE,
    port: Port = 8000,
    store: Store = None,
    definitions: Annotated[
        bool | None,
        typer.Option(
            "--definitions",
            help="Serve the journeys in the database (stored by `load`). Default: settings.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="MODULE",
            help="file.py or a module with their AGENTS and TOOLS; may be repeated.",
        ),
    ] = None,
    stubs: Stubs = None,
    reload: Annotated[
        bool,
        typer.Option(
            "--reload", help="Start again when a file of the folder changes; for development."
        ),
    ] = False,
    print_settings: Annotated[
        bool,
        typer.Option(
            "--print-settings", help="Show every setting and the source of its value, then exit."
        ),
    ] = False,
) -> None:
    """Serve journeys over HTTP: sessions, their state, and turns as JSON or as events.

    JOURNEYGRAPH_API_KEYS has the keys that clients send as 'Authorization: Bearer KEY'; without a
    key, only this machine is served. After SIGTERM, running turns finish; then the exit code is 0.

    A session continues in the version of its journey in which it began, if that version is served,
    else in the version of JOURNEY.

    With --reload, open pages follow each change, and stored sessions continue. While a journey has
    faults, the terminal and the page show them.
    """
    from journeygraph.server.cli.serve import ServeRequest, serve

    wanted = ServeRequest(journeys or (), store, definitions, given or (), versions or (), stubs)
    serve(wanted, host, port, print_settings=print_settings, reload=reload)


@command
def mcp(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="TARGET", help=f"{_TARGET} Default: all examples."),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP instead of standard streams.")
    ] = False,
    versions: Versions = None,
    host: Host = _THIS_MACHINE,
    port: Port = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which clients reach this machine; may be repeated."),
    ] = None,
    store: Store = None,
) -> None:
    """Offer journeys and pipelines to MCP clients; each is a tool.

    Over standard streams it serves the client that started it. With --http, JOURNEYGRAPH_API_KEYS
    has the keys that clients send as 'Authorization: Bearer KEY'; without a key, only this machine
    is served.
    """
    from journeygraph.journeys.errors import require_extra

    require_extra("mcp", "MCP", "mcp")
    if http:
        from journeygraph.server.cli.mcp import over_http

        over_http(targets or (), versions or (), host, port, allow_host or (), store)
    else:
        from journeygraph.server.mcp.serving import over_streams

        def offered() -> Any:
            from journeygraph.server.cli.mcp import offered

            return offered(targets or (), versions or (), store)

        over_streams(offered, _end)


@command
def load(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="YAML and JSON files, and folders.")
    ],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Running sessions continue in the new version too, not in their own."
        ),
    ] = False,
    store: Store = None,
) -> None:
    """Store definitions of journeys, concierges and guidelines in the database.

    All files are read and checked first: if one has a fault, every fault of every file is shown,
    and nothing is stored. A changed definition becomes a new version, in which servers of
    definitions start new sessions from then on; an unchanged one is skipped. Running sessions
    continue in the version in which they began. Changed guidelines apply to all sessions.
    """
    from journeygraph.server.cli.database.definitions import load

    load(paths, store, replace=replace)


@command
def definitions(
    retire: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Stop serving this definition; `load` restores it."),
    ] = None,
    store: Store = None,
    limit: Limit = 200,
    after: After = None,
    as_json: AsJson = False,
) -> None:
    """List the definitions in the database that are served, by id."""
    from journeygraph.server.cli.database.definitions import definitions

    definitions(retire, store, limit, after or "", as_json=as_json)


@command
def invalidate(
    definition: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Id of a definition. Default: the whole cache."),
    ] = None,
    store: Store = None,
) -> None:
    """Invalidate cached values of one definition, or all, in the cache and in every process.

    It takes effect at once, even if the cache does not answer: servers compare cached values with
    the database.
    """
    from journeygraph.server.cli.database.definitions import invalidate

    invalidate(definition, store)


@command
def check(
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="File, folder, module or module:Class."),
    ] = ".",
    against: Annotated[
        str | None,
        typer.Option(
            help="A store, postgresql://... or sqlite:///FILE: list its sessions that these "
            "versions would move to another pathway, or with values that would be read again.",
            callback=_store,
        ),
    ] = None,
    versions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOURNEY",
            help="With --against: another version that is served too; may be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Report every fault and every warning of the journeys in a file, folder or module.

    Modules with a journey are imported, YAML and JSON files are read; no agent runs. What `serve`
    refuses in the dicts AGENTS and TOOLS of a module is a fault. In a folder, tests, hidden folders
    and environments are skipped. With --against, the journeys that are stored
    in the database are compared with its sessions too, and each stored version is read; nothing in
    the store is changed.

    Exit code 0: no fault; warnings are possible. 1: faults, no journey at all, sessions that would
    be moved, or stored versions that this release cannot read. 2: an unknown name or store.
    """
    from journeygraph.server.cli.check import check

    check(path, against, versions or (), as_json=as_json)


@command
def test(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH", help="Files of conversations, and folders with *.conversation.yaml."
        ),
    ],
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Also write the outcomes to this file (JUnit).")
    ] = None,
    coverage: Annotated[
        bool,
        typer.Option("--coverage", help="Also list the parts of the journeys that were missed."),
    ] = False,
    failures: Annotated[
        Path | None,
        typer.Option(
            "--failures",
            metavar="FOLDER",
            help="Write failed conversations of simulated users to it, as tests.",
        ),
    ] = None,
    records: Annotated[
        bool,
        typer.Option("--record", help="Record the answers of the model for `model: recorded`."),
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="Play `model: recorded` with the model itself.")
    ] = False,
    runs: Annotated[
        int, typer.Option(min=1, max=100, help="Runs with a live model or simulated users.")
    ] = 1,
    as_json: AsJson = False,
) -> None:
    """Play conversations on their journeys, and show the first turn that differs.

    Nothing is stored, and only `model: live`, --live and --record use the network: otherwise models
    answer as the files say. Tools, effects and agents are the journey's own functions, unless a
    file gives their results.

    Exit code 0: all passed. 1: a conversation differs. 2: a file has faults, or there is no file.
    """
    from journeygraph.server.cli.conversations import ConversationModels, play_files

    if records and live:
        raise typer.BadParameter("--record and --live exclude each other.")
    models = ConversationModels(records, live, runs)
    play_files(paths, junit, failures, models=models, as_json=as_json, coverage=coverage)


@command
def explore(
    journey: Annotated[str, typer.Argument(metavar="JOURNEY", help=_JOURNEY)],
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="TEXT",
            help="Also try this message everywhere; may be repeated.",
        ),
    ] = None,
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help="Call the functions of effects, many times. Default: their results are invented, "
            "except for the examples.",
        ),
    ] = False,
    seconds: Annotated[float, typer.Option(min=1, help="Longest time of the search.")] = 50.0,
    as_json: AsJson = False,
) -> None:
    """Search a journey without a model for dead ends, unreachable parts and loops.

    From each state of a conversation it tries the patterns of transitions, the offered options and
    sample values, and shows each fault with the shortest conversation to it. Agents and tools run.

    Exit code 0: no fault. 1: faults. 2: an unknown journey.
    """
    from journeygraph.server.cli.conversations import explore_journey

    explore_journey(journey, given or (), seconds, as_json=as_json, effects=effects)


@command
def record(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id of a session.")],
    journey: Annotated[
        str, typer.Option(help=f"{_JOURNEY} Default: the example of the session's journey.")
    ] = "",
    store: Store = None,
    tenant: Tenant = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file. Default: SESSION.conversation.yaml.",
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Ask the model again, and record its answers in a file."),
    ] = False,
) -> None:
    """Write the conversation of a stored session as a test for `journeygraph test`.

    The conversation is played on the journey, without the store and without the functions of its
    effects: their results are those that were stored. Answers of models are not stored; --live asks
    the model again. The file has all messages in clear text.
    """
    from journeygraph.server.cli.conversations import record_session
    from journeygraph.server.settings import StorePlace

    record_session(session, journey, StorePlace(store, tenant), output, live=live)


@command
def audit(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="Id of a session.")] = "",
    store: Store = None,
    tenant: Tenant = None,
    review: Annotated[
        bool, typer.Option("--review", help="List replies that a person should review.")
    ] = False,
    as_json: AsJson = False,
    limit: Limit = 200,
    after: After = None,
) -> None:
    """Show a session turn by turn: messages, transitions, and the checks of replies.

    With --review, list instead the newest replies that were replaced, invalid, or not checked
    because of an error. Sensitive journeys need the key in the settings.
    """
    from journeygraph.server.cli import audit as module
    from journeygraph.server.settings import StorePlace

    module.audit(session, StorePlace(store, tenant), review, limit, after, as_json=as_json)


@command
def escalations(
    call: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of an escalation, or of its session."),
    ] = "",
    status: Annotated[
        str, typer.Option(help="open, claimed, released or expired. Default: open or claimed.")
    ] = "",
    deliver: Annotated[
        bool, typer.Option("--deliver", help="Send all undelivered events to the webhook.")
    ] = False,
    store: Store = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
    limit: Limit = 200,
    after: After = None,
) -> None:
    """List conversations that need a person, newest first; with an id, show one.

    Operators answer in the page of a server, or over HTTP. Sensitive journeys need the key in the
    settings.
    """
    from journeygraph.server.cli import escalations as module
    from journeygraph.server.settings import StorePlace

    place = StorePlace(store, tenant)
    if deliver and call:
        raise typer.BadParameter("--deliver sends the events of all escalations; leave out the id.")
    if deliver:
        module.deliver(place, as_json=as_json)
    elif call:
        module.show(call, place, as_json=as_json)
    else:
        module.show_page(place, status, limit, after, as_json=as_json)


@command
def draw(
    target: Annotated[str, typer.Argument(metavar="JOURNEY|PIPELINE", help=_TARGET)],
    style: Annotated[
        Literal["mermaid", "svg", "text"] | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="mermaid, svg or text. Default: by the ending of --output (.svg, .txt, .mmd).",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of the terminal."),
    ] = None,
    graph: Annotated[
        bool,
        typer.Option("--graph", help="Draw the compiled LangGraph graph instead (Mermaid)."),
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Draw all fields of a form. Default: the first ones.")
    ] = False,
) -> None:
    """Draw the pathways of a journey, or the agents of a pipeline.

    A pathway shows the fields that it collects, its effects, and when it calls a person. No network
    is used. The SVG opens in any browser; GitHub shows the Mermaid text as a picture.
    """
    from journeygraph.server.cli.draw import draw

    draw(target, style, output, graph=graph, full=full)


@command
def migrate(store: Store = None) -> None:
    """Create or change the tables that this release needs, and list the changes.

    Only this command migrates a Postgres database; SQLite files also migrate themselves when they
    are opened. It can run while the database is in use, and several times at once.
    """
    from journeygraph.server.cli.database.migration import migrate

    migrate(store)


@command
def encryption(
    action: Annotated[
        Literal["status", "rotate", "drop"],
        typer.Argument(metavar="ACTION", show_choices=False, help="status, rotate or drop."),
    ],
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="ID", help="With drop: id of the lost key."),
    ] = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Show the keys that stored sensitive sessions need, or change all sessions to the first key.

    JOURNEYGRAPH_ENCRYPTION_KEY has the keys: 'ID:BASE64,ID:BASE64', the first for new sessions.

    status: list the keys, the number of their sessions, and whether they are set. rotate: wrap the
    data keys of all sessions with the first key, while turns run; afterwards the other keys can be
    removed. It can be stopped, and continues with the next call. drop: delete the sessions of a key
    that is lost; no one can read them.

    Exit code 1: a key is not set, or sessions still need another key.
    """
    from journeygraph.server.cli.database.encryption import encryption

    if (action == "drop") is (key is None):
        raise typer.BadParameter("--key ID belongs to drop, which needs it.")
    encryption(action, key, store, as_json=as_json)


@command
def keys(
    action: Annotated[
        Literal["create", "list", "revoke", "rotate"],
        typer.Argument(
            metavar="ACTION", show_choices=False, help="create, list, revoke or rotate."
        ),
    ],
    key: Annotated[
        str | None,
        typer.Argument(metavar="KEY", help="With revoke and rotate: id of a key."),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", help="With create: talk, operate or admin."),
    ] = None,
    name: Annotated[str, typer.Option("--name", help="With create: a name, for people.")] = "",
    user: Annotated[
        str | None,
        typer.Option(
            "--user",
            help="With create: the key reaches only the sessions of this user.",
        ),
    ] = None,
    ends: Annotated[
        str | None,
        typer.Option(
            "--ends",
            help="With create: its life, as 90d, 12h, 15m. Default: no end.",
        ),
    ] = None,
    overlap: Annotated[
        str, typer.Option("--overlap", help="With rotate: the rest of the life of the other key.")
    ] = "24h",
    tokens: Annotated[
        bool, typer.Option("--tokens", help="With list: tokens too, with the keys that made them.")
    ] = False,
    store: Store = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
    limit: Limit = 200,
    after: After = None,
) -> None:
    """Make, list, revoke and replace the API keys of the database.

    create: make a key with scopes, and write it to standard output; only its SHA-256 is stored.
    list: show ids, scopes and states. revoke: end a key and its tokens, or one token; servers
    refuse it within 5 seconds. rotate: make a key like another one, which ends after --overlap, and
    its tokens with it.

    Scopes: talk (start sessions and talk in them), operate (all sessions, acts of operators,
    tokens), admin (all). Keys count on servers that need a key: with JOURNEYGRAPH_STORED_KEYS=true
    or JOURNEYGRAPH_API_KEYS.
    """
    from journeygraph.server.access.keys import KeyRequest
    from journeygraph.server.cli.database import api_keys as module
    from journeygraph.server.settings import StorePlace

    if (action in ("revoke", "rotate")) is (key is None):
        raise typer.BadParameter("The id of a key belongs to revoke and rotate, which need it.")
    if action != "create" and (scope or name or user or ends):
        raise typer.BadParameter("--scope, --name, --user and --ends belong to create.")
    if tokens and action != "list":
        raise typer.BadParameter("--tokens belongs to list.")
    place = StorePlace(store, tenant)
    if action == "create":
        seconds = None if ends is None else module.seconds_of(ends)
        wanted = KeyRequest(tuple(scope or ()), name, user, seconds=seconds)
        module.create(wanted, place, as_json=as_json)
    elif action == "rotate":
        module.rotate(key or "", overlap, place, as_json=as_json)
    elif action == "revoke":
        module.revoke(key or "", place, as_json=as_json)
    else:
        module.listed(place, limit, after or "", tokens=tokens, as_json=as_json)


@command
def users(
    action: Annotated[
        Literal["export", "delete"],
        typer.Argument(metavar="ACTION", show_choices=False, help="export or delete."),
    ],
    user: Annotated[str, typer.Argument(metavar="USER", help="Id of a user.")],
    store: Store = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Export or delete all that the store has of a user.

    export: write all records of the user, decrypted, to standard output, one line of JSON each; the
    last one is `end`. delete: delete all sessions of the user with their history and audit, and the
    user's keys and tokens, and say how many there were; it can be stopped, and continues with the
    next call.

    Sessions without a user, and those of another tenant, are not part of it.

    Exit code 1: there is no session and no key of this user.
    """
    from journeygraph.server.cli.database import user_records as module
    from journeygraph.server.settings import StorePlace

    if as_json and action == "export":
        raise typer.BadParameter("export writes JSON lines, and takes no --json.")
    place = StorePlace(store, tenant)
    if action == "export":
        module.export(user, place)
    else:
        module.delete(user, place, as_json=as_json)


@command
def schema(
    kind: Annotated[
        Literal["journey", "agent", "concierge", "guidelines", "conversation"] | None,
        typer.Argument(
            metavar="KIND",
            show_choices=False,
            help="journey, agent, concierge, guidelines or conversation. Default: one "
            "schema for the first four.",
        ),
    ] = None,
) -> None:
    """Print the JSON Schema (draft 2020-12) of YAML and JSON files: of journeys, or of tests.

    With `# yaml-language-server: $schema=FILE` in its first line, editors complete and check a
    file. `journeygraph check` also finds the faults that a schema cannot describe.
    """
    from journeygraph.server.cli.database.definitions import schema

    schema(kind)


def main() -> None:
    """Run the command of the arguments and end the process with its exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A byte that is no text, or a terminal without some letter, must not end a conversation.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="journeygraph")


def _version() -> str:
    known = installed_version()
    return f"{source_version() or 'unknown version'} (from source)" if known == "0" else known
