"""The language of journeys: what an author writes, and the frozen spec that it becomes."""

import importlib
from typing import TYPE_CHECKING

from journeygraph.journeys.agents.agent import Agent, AgentCard, ModelAgent, Skill
from journeygraph.journeys.agents.signature import InputField, OutputField, Signature
from journeygraph.journeys.agents.tools import Call, FromContext, Tool, ToolSpec
from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.declarations.behaviors import (
    NEVER,
    Known,
    MergeStrategy,
    ReturnToPrevious,
    ReturnToSpecific,
    known,
)
from journeygraph.journeys.declarations.effects import Effect
from journeygraph.journeys.declarations.escalation import Escalation
from journeygraph.journeys.declarations.fields import Check, Field, Form, Length, Range, Regex
from journeygraph.journeys.declarations.guidelines import (
    Guideline,
    GuidelineSpec,
    Scope,
    Validation,
)
from journeygraph.journeys.declarations.knowledge import Knowledge, Passage, select_passages
from journeygraph.journeys.declarations.personality import Personality
from journeygraph.journeys.declarations.silence import Reminder, Silence
from journeygraph.journeys.declarations.transitions import (
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    EventTrigger,
    IntentTrigger,
    TimeTrigger,
    Transition,
)
from journeygraph.journeys.errors import (
    AgentNotRegisteredError,
    ConfigurationError,
    ContextMergeError,
    ContextSizeExceededError,
    FieldNotFoundError,
    IdempotencyKeyError,
    InvalidCursorError,
    InvalidMessageError,
    InvalidPhaseError,
    JourneyDefinitionError,
    JourneyError,
    MaxPathwayDepthError,
    ModelError,
    NeedsMigrationError,
    NotWaitingError,
    PathwayExecutionError,
    PathwayNotFoundError,
    SessionBusyError,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    TakeoverError,
    TooManyWaitingError,
    TurnInterruptedError,
    VersionNotFoundError,
    WaitingError,
)
from journeygraph.journeys.journey import Journey
from journeygraph.journeys.locale import Locale
from journeygraph.journeys.pathway import Pathway
from journeygraph.journeys.pipelines import Handoff, Limits, PatternPipeline, Pipeline
from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.texts import Texts

if TYPE_CHECKING:
    from journeygraph.journeys.concierge import Concierge, HandOver
    from journeygraph.journeys.files.loading import load_journey
    from journeygraph.journeys.notebook import Chat
    from journeygraph.journeys.pipelines.capabilities import select_best_agent, select_top_k_agents
    from journeygraph.journeys.results.outcomes import (
        AuditedTurn,
        AuditEntry,
        Candidate,
        CheckEntry,
        CommandEntry,
        ConversationPhase,
        EscalationCase,
        EscalationEntry,
        FieldAttemptEntry,
        FieldState,
        FieldVersion,
        FormView,
        JourneyEvent,
        JourneyResponse,
        JourneySession,
        Page,
        TranscriptEntry,
        TurnDecision,
        TurnStep,
        VersionInfo,
        VersionState,
        taken_back,
    )

__all__ = [
    "NEVER",
    "Agent",
    "AgentCard",
    "AgentNotRegisteredError",
    "AlwaysTrigger",
    "AuditEntry",
    "AuditedTurn",
    "BaseTrigger",
    "Call",
    "Candidate",
    "Chat",
    "Check",
    "CheckEntry",
    "CommandEntry",
    "Concierge",
    "ConditionTrigger",
    "ConfigurationError",
    "ContextMergeError",
    "ContextSizeExceededError",
    "ConversationPhase",
    "Effect",
    "Escalation",
    "EscalationCase",
    "EscalationEntry",
    "EventTrigger",
    "Field",
    "FieldAttemptEntry",
    "FieldNotFoundError",
    "FieldState",
    "FieldVersion",
    "Form",
    "FormView",
    "FromContext",
    "Guideline",
    "GuidelineSpec",
    "HandOver",
    "Handoff",
    "IdempotencyKeyError",
    "InputField",
    "IntentTrigger",
    "InvalidCursorError",
    "InvalidMessageError",
    "InvalidPhaseError",
    "Journey",
    "JourneyConfig",
    "JourneyDefinitionError",
    "JourneyError",
    "JourneyEvent",
    "JourneyResponse",
    "JourneySession",
    "JourneySpec",
    "Knowledge",
    "Known",
    "Length",
    "Limits",
    "Locale",
    "MaxPathwayDepthError",
    "MergeStrategy",
    "ModelAgent",
    "ModelError",
    "NeedsMigrationError",
    "NotWaitingError",
    "OutputField",
    "Page",
    "Passage",
    "Pathway",
    "PathwayExecutionError",
    "PathwayNotFoundError",
    "PathwaySpec",
    "PatternPipeline",
    "Personality",
    "Pipeline",
    "Range",
    "Regex",
    "Reminder",
    "ReturnToPrevious",
    "ReturnToSpecific",
    "Scope",
    "SessionBusyError",
    "SessionExistsError",
    "SessionExpiredError",
    "SessionNotStartedError",
    "Signature",
    "Silence",
    "Skill",
    "StateError",
    "TakeoverError",
    "Texts",
    "TimeTrigger",
    "TooManyWaitingError",
    "Tool",
    "ToolSpec",
    "TranscriptEntry",
    "Transition",
    "TransitionSpec",
    "TurnDecision",
    "TurnInterruptedError",
    "TurnStep",
    "Validation",
    "VersionInfo",
    "VersionNotFoundError",
    "VersionState",
    "WaitingError",
    "known",
    "load_journey",
    "select_best_agent",
    "select_passages",
    "select_top_k_agents",
    "taken_back",
]

_RESULTS = "results.outcomes"
_LATER = {
    "select_best_agent": "pipelines.capabilities",
    "select_top_k_agents": "pipelines.capabilities",
    "Concierge": "concierge",
    "HandOver": "concierge",
    "load_journey": "files.loading",
    "Chat": "notebook",
}
"""Names that few definitions need: name -> module, imported on first use, as the results are."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute '{name}'")
    return getattr(importlib.import_module(f"{__name__}.{_LATER.get(name, _RESULTS)}"), name)
