"""The example journeys as graphs for LangGraph Studio; `langgraph.json` names them.

Studio brings a saver of its own, so these are compiled without one. Where a model is configured
(`OPENAI_API_KEY`, which may stand in `.env`), an example that has agents on models takes those.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from journeys import Journey
from journeys.examples import healthcare_referral as referral
from journeys.examples import parcel_refund as refund
from nodes.llm.models import is_configured


def _compiled(journey: type[Journey], module: ModuleType) -> Any:
    functions = module.AGENTS
    agents = getattr(module, "MODEL_AGENTS", functions) if is_configured(None) else functions
    return journey.compile(agents=agents)


healthcare_referral = _compiled(referral.HealthcareReferral, referral)
parcel_refund = _compiled(refund.ParcelRefund, refund)
