"""The language of journeys: what an author writes, and the frozen spec that it becomes."""

import importlib
from typing import TYPE_CHECKING

from journeys.agent_card import Agent, AgentCard, Skill
from journeys.behaviors import NEVER, Known, ReturnToPrevious, ReturnToSpecific, known
from journeys.calls import Call, ToolSpec
from journeys.concierge import Concierge, HandOver
from journeys.config import JourneyConfig
from journeys.context import MergeStrategy
from journeys.effects import Effect
from journeys.errors import (
    AgentNotRegisteredError,
    ConfigurationError,
    ContextMergeError,
    ContextSizeExceededError,
    FieldNotFoundError,
    InvalidCursorError,
    InvalidMessageError,
    InvalidPhaseError,
    JourneyDefinitionError,
    JourneyError,
    MaxPathwayDepthError,
    ModelError,
    NotWaitingError,
    PathwayExecutionError,
    PathwayNotFoundError,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    TakeoverError,
    VersionNotFoundError,
)
from journeys.escalation import Escalation
from journeys.fields import Field, Form
from journeys.files import load_journey
from journeys.guidelines import Guideline, GuidelineSpec, Scope
from journeys.io_fields import InputField, OutputField
from journeys.journey import Journey
from journeys.knowledge import Knowledge, Passage, select_passages
from journeys.locale import Locale
from journeys.model_agent import ModelAgent
from journeys.pathway import Pathway
from journeys.personality import Personality
from journeys.phase import ConversationPhase
from journeys.pipelines import Handoff, Limits, PatternPipeline, Pipeline
from journeys.signature import Signature
from journeys.spec import JourneySpec, PathwaySpec, TransitionSpec
from journeys.texts import Texts
from journeys.tool import FromContext, Tool
from journeys.transitions import (
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Transition,
)
from journeys.validation import Validation
from journeys.validators import Check, Length, Range, Regex

if TYPE_CHECKING:
    from journeys.capabilities import select_best_agent, select_top_k_agents
    from journeys.cases import EscalationCase, EscalationEntry
    from journeys.collected import FieldAttemptEntry, FieldState, FormView
    from journeys.outcomes import (
        AuditedTurn,
        AuditEntry,
        CheckEntry,
        FieldVersion,
        JourneyEvent,
        JourneyResponse,
        JourneySession,
        Page,
        TranscriptEntry,
        VersionInfo,
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
    "Check",
    "CheckEntry",
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
    "ReturnToPrevious",
    "ReturnToSpecific",
    "Scope",
    "SessionExistsError",
    "SessionExpiredError",
    "SessionNotStartedError",
    "Signature",
    "Skill",
    "StateError",
    "TakeoverError",
    "Texts",
    "Tool",
    "ToolSpec",
    "TranscriptEntry",
    "Transition",
    "TransitionSpec",
    "Validation",
    "VersionInfo",
    "VersionNotFoundError",
    "known",
    "load_journey",
    "select_best_agent",
    "select_passages",
    "select_top_k_agents",
]

_LATER = {
    "select_best_agent": "capabilities",
    "select_top_k_agents": "capabilities",
    "EscalationCase": "cases",
    "EscalationEntry": "cases",
    "FieldAttemptEntry": "collected",
    "FieldState": "collected",
    "FormView": "collected",
    "AuditedTurn": "outcomes",
    "AuditEntry": "outcomes",
    "CheckEntry": "outcomes",
    "FieldVersion": "outcomes",
    "JourneyEvent": "outcomes",
    "JourneyResponse": "outcomes",
    "JourneySession": "outcomes",
    "Page": "outcomes",
    "TranscriptEntry": "outcomes",
    "VersionInfo": "outcomes",
}
"""Results, which a definition does not need: name -> module, imported on first use."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'journeys' has no attribute '{name}'")
    return getattr(importlib.import_module(f"journeys.{_LATER[name]}"), name)
