"""Read a pipeline from plain data; every fault in it is told with its path."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from journeys.agents.agent_card import Agent, Skill
from journeys.errors import ConfigurationError
from journeys.pipelines.form import Form, hint, told_of
from journeys.pipelines.limits import Limits
from journeys.pipelines.pattern import PatternPipeline
from journeys.pipelines.shapes import (
    MOST_LEVELS,
    SHAPES,
    Shape,
    error_handling_faults,
    setting_faults,
)

SCHEMA = 1
"""Version of what is written and read."""
LIMITS = tuple(each.name for each in fields(Limits) if each.name != "clock")
"""Names of the limits that are data."""
MOST_AGENTS = 10_000
"""Most agents of one pipeline, at all its levels together, that are read."""
JOURNEY = "journey"
"""Who registers an agent that calls nothing by itself."""

_REQUIRED = ("pattern", "agents")
_OPTIONAL = ("name", "description", "roles", "settings", "error_handling", "limits")
_CARD = ("description", "skills", "input_modes", "output_modes", "weight")
_OF_AGENTS = (*_CARD, "pipeline", "registered_by")
_OF_SKILLS = ("description", "examples", "synonyms")
_FUNCTION = "handoff_condition"
"""The setting that is a function, and written by its name."""
_PLACES = {
    "schema": "at the top alone",
    **dict.fromkeys(LIMITS, "under `limits`"),
    **{name: "under `settings`" for shape in SHAPES.values() for name in shape.settings},
    **{name: "under `roles`" for shape in SHAPES.values() for name in shape.roles},
}
"""Where a field belongs that stands elsewhere."""


class _TooManyError(Exception):
    """There are more agents than are read."""


def read_pipeline(data: Any, registry: Mapping[str, Any]) -> PatternPipeline:
    """Return the pipeline that data describes.

    Args:
        data: The data.
        registry: Agents and functions by name.

    Raises:
        ConfigurationError: Names every fault, or of very many the first ones.
    """
    form = Form(_PLACES)
    pipeline = None
    if _is_known(form, data):
        with suppress(_TooManyError):
            pipeline = _Reader(form, registry).pipeline("$", data, 1)
    if pipeline is None:
        raise ConfigurationError(form.told)
    return pipeline


def _is_known(form: Form, data: Any) -> bool:
    """Say whether data is of a schema that is read; of another one, no fault could be told."""
    if not isinstance(data, Mapping) or "schema" not in data:
        return True
    schema = data["schema"]
    if type(schema) is int and schema == SCHEMA:
        return True
    form.fault("$.schema", f"it is {told_of(schema)}; this version reads schema {SCHEMA}.")
    return False


class _Reader:
    """Reads pipelines, and the agents in them.

    What is faulty is taken down in the form, and read as None or as something harmless.
    """

    def __init__(self, form: Form, registry: Mapping[str, Any]) -> None:
        self._form = form
        self._registry = registry
        self._agents = 0

    def pipeline(self, path: str, data: Any, level: int) -> PatternPipeline | None:
        if level > MOST_LEVELS:
            self._form.fault(path, f"pipelines stand more than {MOST_LEVELS} levels deep in it.")
            return None
        before = len(self._form.faults)
        required = _REQUIRED if level > 1 else ("schema", *_REQUIRED)
        if not self._form.is_object(path, data, required, _OPTIONAL):
            return None
        shape = self._shape(f"{path}.pattern", data)
        given = {
            "agents": self._peers(f"{path}.agents", data.get("agents", ()), level),
            "roles": self._roles(f"{path}.roles", data.get("roles", {}), shape, level),
            "settings": self._settings(f"{path}.settings", data.get("settings", {}), shape),
            "limits": self._limits(f"{path}.limits", data.get("limits", {})),
            "name": self._form.text(f"{path}.name", data.get("name", "")),
            "description": self._form.text(f"{path}.description", data.get("description", "")),
            "error_handling": self._handling(f"{path}.error_handling", data),
        }
        sound = len(self._form.faults) == before
        return self._made(path, {"pattern": data["pattern"], **given}) if sound else None

    def _made(self, path: str, given: Mapping[str, Any]) -> PatternPipeline | None:
        try:
            return PatternPipeline(**given)
        except ConfigurationError as error:
            self._form.fault(path, str(error))
            return None

    def _shape(self, path: str, data: Mapping[str, Any]) -> tuple[str, Shape] | None:
        if "pattern" not in data or not self._form.is_plain(path, pattern := data["pattern"]):
            return None
        if pattern in SHAPES:
            return pattern, SHAPES[pattern]
        told = f"there is no pattern {told_of(pattern)}.{hint(str(pattern), SHAPES)}"
        self._form.fault(path, f"{told} One of: {', '.join(SHAPES)}.")
        return None

    def _peers(self, path: str, data: Any, level: int) -> list[Agent | None]:
        return [
            self._agent(f"{path}[{place}]", each, level)
            for place, each in enumerate(self._form.list_of(path, data))
        ]

    def _roles(
        self, path: str, data: Any, shape: tuple[str, Shape] | None, level: int
    ) -> dict[str, Agent | None]:
        if shape is None or not self._form.is_object(
            path, data, shape[1].required, shape[1].optional
        ):
            return {}
        return {
            role: self._agent(f"{path}.{role}", data[role], level)
            for role in shape[1].roles
            if role in data
        }

    def _settings(self, path: str, data: Any, shape: tuple[str, Shape] | None) -> dict[str, Any]:
        if shape is None or not self._form.is_object(path, data, (), shape[1].settings):
            return {}
        settings = {name: data[name] for name in shape[1].settings if name in data}
        for name, value in settings.items():
            if name == _FUNCTION:
                settings[name] = self._function(f"{path}.{name}", value)
            elif self._form.is_plain(f"{path}.{name}", value):
                for fault in setting_faults(shape[0], {name: value}):
                    self._form.fault(path, fault)
        return settings

    def _function(self, path: str, name: Any) -> Any:
        if name is None:
            return None
        function = self._registered(path, self._form.text(path, name))
        if function is not None and not callable(function):
            self._form.fault(path, f"{told_of(name)} is registered as what is no function.")
        return function

    def _handling(self, path: str, data: Mapping[str, Any]) -> str:
        handling: str = data.get("error_handling", "graceful")
        if self._form.is_plain(path, handling):
            for fault in error_handling_faults(handling):
                self._form.fault(path, fault)
        return handling

    def _limits(self, path: str, data: Any) -> Limits:
        limits = Limits()
        if not self._form.is_object(path, data, (), LIMITS):
            return limits
        for name in LIMITS:
            if name in data and self._form.is_plain(f"{path}.{name}", data[name]):
                try:
                    limits = replace(limits, **{name: data[name]})
                except ConfigurationError as error:
                    self._form.fault(path, str(error))
        return limits

    def _agent(self, path: str, data: Any, level: int) -> Agent | None:
        self._agents += 1
        if self._agents > MOST_AGENTS:
            self._form.fault(path, f"more than {MOST_AGENTS} agents stand in the pipeline.")
            raise _TooManyError
        before = len(self._form.faults)
        if not self._form.is_object(path, data, ("name",), _OF_AGENTS):
            return None
        if "name" in data and not self._form.text(f"{path}.name", name := data["name"]):
            self._form.fault(f"{path}.name", "it must not be empty.")
        parts = {
            part: self._part(f"{path}.{part}", part, data[part]) for part in _CARD if part in data
        }
        origin = self._origin(path, data, level)
        if len(self._form.faults) > before:
            return None
        try:
            if isinstance(origin, Agent):
                return replace(origin, name=name, **parts)
            return Agent(origin, name=name, **parts)
        except ConfigurationError as error:
            self._form.fault(path, str(error))
            return None

    def _part(self, path: str, part: str, value: Any) -> Any:
        if part == "skills":
            skills = enumerate(self._form.list_of(path, value))
            return tuple(self._skill(f"{path}[{place}]", each) for place, each in skills)
        if part == "description":
            return self._form.text(path, value)
        if part == "weight":
            return value if self._form.is_plain(path, value) else 1
        return self._form.texts(path, value)

    def _skill(self, path: str, data: Any) -> Skill:
        if not self._form.is_object(path, data, ("name",), _OF_SKILLS):
            return Skill("")
        return Skill(
            self._form.text(f"{path}.name", data.get("name", "")),
            self._form.text(f"{path}.description", data.get("description", "")),
            self._form.texts(f"{path}.examples", data.get("examples", ())),
            self._form.texts(f"{path}.synonyms", data.get("synonyms", ())),
        )

    def _origin(self, path: str, data: Mapping[str, Any], level: int) -> Any:
        """Return what an agent calls: a pipeline in it, nothing, or what is registered."""
        if "pipeline" in data and "registered_by" in data:
            self._form.fault(path, "it has both `pipeline` and `registered_by`; one at most.")
        if "pipeline" in data:
            return self.pipeline(f"{path}.pipeline", data["pipeline"], level + 1)
        if "registered_by" not in data:
            return self._registered(path, data.get("name"))
        if data["registered_by"] != JOURNEY:
            told = f"it is {told_of(data['registered_by'])}; it can only be '{JOURNEY}'."
            self._form.fault(f"{path}.registered_by", told)
        return None

    def _registered(self, path: str, name: Any) -> Any:
        if not name or not isinstance(name, str):  # which is told where the name is read
            return None
        found = self._registry.get(name)
        if found is None:
            told = f"{told_of(name)} is in no registry.{hint(name, self._registry)}"
            self._form.fault(path, told)
        elif isinstance(found, (str, bytes, int, float)):
            told = f"{told_of(name)} is registered as {told_of(found)}, which is no agent."
            self._form.fault(path, told)
        return found
