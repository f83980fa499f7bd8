"""Blackboard: whoever knows metrics, logs, dependencies or changes adds it, until a cause shows."""

import csv
import inspect
import json
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from journeygraph import Agent, ModelAgent, OutputField, Pipeline, Signature

_FOLDER = Path(__file__).with_suffix("")
METRICS = list(csv.DictReader((_FOLDER / "metrics.csv").read_text("utf-8").splitlines()))
_LINES = (_FOLDER / "services.log").read_text("utf-8").splitlines()
LOG = [line.split(maxsplit=3) for line in _LINES]
NEEDS, CHANGES = json.loads((_FOLDER / "landscape.json").read_text(encoding="utf-8")).values()
SAMPLES = (
    "Customers say that checkout has been failing since about 14:10.",
    "Nobody could pay this morning at 09:30.",
    "Search finds nothing at all, it is 19:35 now.",
)
Found = dict[str, Any]


class Finding(Signature):
    """Help to find the cause of an incident in a shop; go by what your tool or the board says."""

    response: str = OutputField(description="What you found, with services, times and numbers")


def _minutes(before: str, time: str) -> int:
    return (int(time[:2]) - int(before[:2])) * 60 + int(time[3:5]) - int(before[3:5])


def metrics(time: str) -> Found:
    """Read metrics: what was slow, or failed more often than usual, around a time (HH:MM)."""
    found = {}
    for row in METRICS:
        slower, failing = int(row["p95_ms"]) / int(row["usual_ms"]), float(row["errors_pct"])
        if abs(_minutes(row["time"], time)) <= 30 and (slower > 3 or failing > 3):
            found[row["service"]] = f"{slower:.0f} times as slow, {failing:.0f} % errors"
    return {"unusual": found}


def logs(time: str) -> Found:
    """Count errors in the logs around a time (HH:MM), and name the services that report them."""
    near = [line for line in LOG if line[2] == "ERROR" and abs(_minutes(line[0], time)) <= 30]
    errors = Counter(f"{line[1]}: {line[3]}" for line in near)
    return {"errors": dict(errors), "services": list({line[1]: None for line in near})}


def dependencies(services: list[str]) -> Found:
    """Trace dependencies: which of the failing services depends on none of the others."""
    return {"services": [name for name in services if not {*NEEDS[name]} & {*services}]}


def changes(services: list[str], time: str) -> Found:
    """Look up deployments and changes of a service in the hour before a time (HH:MM)."""
    of_it = [change for change in CHANGES if change["service"] in services]
    return {"changes": [c["what"] for c in of_it if 0 <= _minutes(c["time"], time) <= 60]}


def _known(given: Found) -> Found:
    named = re.search(r"\b[0-2]?\d:[0-5]\d\b", given["message"])
    board = {name: what for entry in given["board"] for name, what in entry["outputs"].items()}
    return {"time": named[0].zfill(5) if named else "12:00", **board}


def _work(given: Found, tool: Any) -> Any:
    return tool(*(_known(given)[name] for name in inspect.signature(tool).parameters))


def controller(given: Found) -> Found:
    """Say what the board lacks, or what the cause is once it holds all that is needed."""
    known = _known(given)
    if "errors" not in known and known.get("unusual", True):
        return {"need": "errors in the logs" if "unusual" in known else "metrics: what was slow?"}
    if not known.get("services"):
        return {"done": True, "response": f"No errors around {known['time']}."}
    if len(known["services"]) > 1:
        return {"need": "dependencies of the failing services"}
    if "changes" not in known:
        return {"need": "deployments and changes"}
    error = next(error for error in known["errors"] if error.startswith(known["services"][0]))
    change = "; ".join(known["changes"]) or "nothing was changed"
    return {"done": True, "response": f"It begins with '{error}'. Before it: {change}."}


_TOOLS: tuple[Any, ...] = (metrics, logs, dependencies, changes)
_model = partial(ModelAgent, signature=Finding)
PIPELINE = Pipeline.blackboard(
    [Agent(partial(_work, tool=tool), tool.__name__, tool.__doc__) for tool in _TOOLS], controller
)
MODEL_PIPELINE = Pipeline.blackboard(
    [Agent(_model(tools=[tool]), tool.__name__, tool.__doc__) for tool in _TOOLS],
    Agent(_model(), "controller"),
)
