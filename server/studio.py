"""The examples as graphs for LangGraph Studio, and over HTTP; `langgraph.json` names them.

Studio has its own saver, so these are compiled without one, with the settings of the folder. If a
model is configured (`OPENAI_API_KEY`, also in `.env`, or the name of another provider's model), an
example uses its model agents.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from journeygraph.journeys import Journey, PatternPipeline
from journeygraph.journeys.examples import bank_transfer as bank
from journeygraph.journeys.examples import casual_agent as casual
from journeygraph.journeys.examples import default_agent as default
from journeygraph.journeys.examples import healthcare_referral as referral
from journeygraph.journeys.examples import insurance_claim as claims
from journeygraph.journeys.examples import minimal_agent as minimal
from journeygraph.journeys.examples import parcel_refund as refund
from journeygraph.journeys.examples import pipelines
from journeygraph.journeys.examples import table_booking as restaurant
from journeygraph.journeys.examples import telecom_support as support
from journeygraph.nodes.llm.models import is_configured
from journeygraph.server.app import create_app, mounted
from journeygraph.server.settings import Settings

_SETTINGS = Settings()
_CONFIG = _SETTINGS.config("memory://studio")
_ON_MODELS = is_configured(None, _CONFIG)


def _compiled(journey: type[Journey], module: ModuleType) -> Any:
    functions = getattr(module, "AGENTS", {})
    agents = getattr(module, "MODEL_AGENTS", functions) if _ON_MODELS else functions
    return journey.compile(agents=agents, config=_CONFIG, tools=getattr(module, "TOOLS", {}))


def _pipeline(name: str) -> Any:
    module = import_module(f"{pipelines.__name__}.{name}")
    pipeline: PatternPipeline = module.MODEL_PIPELINE if _ON_MODELS else module.PIPELINE
    return pipeline.with_name(name).with_config(_CONFIG).compile()


app = mounted(create_app(_SETTINGS))
"""The same examples over HTTP, at /journeygraph of the same server."""
bank_transfer = _compiled(bank.BankTransfer, bank)
casual_agent = _compiled(casual.CasualAgent, casual)
default_agent = _compiled(default.DefaultAgent, default)
healthcare_referral = _compiled(referral.HealthcareReferral, referral)
insurance_claim = _compiled(claims.InsuranceClaim, claims)
minimal_agent = _compiled(minimal.MinimalAgent, minimal)
parcel_refund = _compiled(refund.ParcelRefund, refund)
table_booking = _compiled(restaurant.TableBooking, restaurant)
telecom_support = _compiled(support.TelecomSupport, support)

bank_phone_desk = _pipeline("bank_phone_desk")
build_or_buy = _pipeline("build_or_buy")
contract_review = _pipeline("contract_review")
incident_diagnosis = _pipeline("incident_diagnosis")
investment_memo = _pipeline("investment_memo")
invoice_intake = _pipeline("invoice_intake")
post_moderation = _pipeline("post_moderation")
support_triage = _pipeline("support_triage")
vendor_check = _pipeline("vendor_check")
