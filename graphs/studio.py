"""The example journeys as graphs for LangGraph Studio; `langgraph.json` names them.

Studio brings a saver of its own, so these are compiled without one.
"""

from __future__ import annotations

from journeys.examples import healthcare_referral as referral
from journeys.examples import parcel_refund as refund

healthcare_referral = referral.HealthcareReferral.compile(agents=referral.AGENTS)
parcel_refund = refund.ParcelRefund.compile(agents=refund.AGENTS)
