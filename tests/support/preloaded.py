"""Import all that a process of some test needs; such processes are forked from one that did so."""

from __future__ import annotations

import gc
import importlib
import sqlite3

from journeygraph.graphs.storage.migrations.migrate import migrate
from journeygraph.nodes.language import proposals

# The modules of the command look at the terminal and the environment, so each process imports them.
for name in (
    *("pytest", "uvicorn", "typer", "rich.console", "rich.markdown", "rich.table", "mcp.server"),
    *("alembic.command", "alembic.context", "langchain_openai", "psycopg_pool"),
    *(
        "journeygraph.graphs.session.manager",
        "journeygraph.graphs.storage.migrations.migrate_postgres",
        "journeygraph.graphs.drawing.pipelines",
        "journeygraph.server.app",
    ),
    *("journeygraph.server.definitions.stored_journeys", "journeygraph.server.http.app_state"),
    # Libraries import these only once they are used, which is in each process.
    *("openai.resources.beta.beta", "langchain_ollama", "httpcore2", "anyio._backends._asyncio"),
    *("phonenumbers", "email_validator", "text_to_num"),
    "journeygraph.journeys.examples.healthcare_referral",
    *(
        "tests.support.clocks",
        "tests.support.crash_child",
        "tests.support.ferry",
        "tests.support.lease_child",
        "tests.support.process_child",
    ),
):
    importlib.import_module(name)

# Processes that hold conversations would each read the phrases of their language, and find out
# how the tables are made.
proposals.load("en")
migrate(lambda: sqlite3.connect(":memory:"))

# A collection in a fork would write to every object, and so copy all memory.
gc.freeze()
