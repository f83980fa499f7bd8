"""An insurer's claims desk in files: report a claim, or get help at once.

The files to read are `insurance_claim.yaml`, `claim.yaml` and `assistance.yaml`; the material is
beside them. `journeygraph demo insurance_claim` shows it.
"""

from pathlib import Path

from journeygraph import load_journey
from journeygraph.journeys.examples.insurance_claim.insurance_claim import (
    AGENTS,
    DEMO_MESSAGES,
    MODEL_AGENTS,
    TOOLS,
)

__all__ = ["AGENTS", "DEMO_MESSAGES", "MODEL_AGENTS", "TOOLS", "InsuranceClaim"]

InsuranceClaim = load_journey(Path(__file__).with_name("insurance_claim.yaml"))
