"""Import all that a process of some test needs; such processes are forked from one that did so."""

from __future__ import annotations

import gc
import importlib

from nodes.language import lexicon

# The modules of the command look at the terminal and the environment, so each process imports them.
for name in (
    *("pytest", "uvicorn", "typer", "rich.console", "rich.markdown", "rich.table", "mcp.server"),
    *("alembic.command", "alembic.context", "dateparser", "langchain_openai", "psycopg_pool"),
    *(
        "graphs.session.manager",
        "graphs.storage.migrate_postgres",
        "graphs.drawing.pipelines",
        "server.app",
    ),
    *("server.definitions.stored_journeys", "server.http.wiring"),
    "journeys.examples.healthcare_referral",
    *(
        "tests.support.crash_child",
        "tests.support.ferry",
        "tests.support.lease_child",
        "tests.support.process_child",
    ),
):
    importlib.import_module(name)

# Processes that hold conversations would each compile the phrases of their language.
lexicon.load("en")

# A collection in a fork would write to every object, and so copy all memory.
gc.collect()
gc.freeze()
