"""The support desk of a telephone company in files: invoices, and lines that are dead.

The files to read are `telecom_support.yaml`, `billing.yaml` and `outage.yaml`; the material is
beside them. `journeygraph demo telecom_support` shows it.
"""

from pathlib import Path

from journeygraph import load_journey
from journeygraph.journeys.examples.telecom_support.telecom_support import (
    AGENTS,
    DEMO_MESSAGES,
    MODEL_AGENTS,
    TOOLS,
)

__all__ = ["AGENTS", "DEMO_MESSAGES", "MODEL_AGENTS", "TOOLS", "TelecomSupport"]

TelecomSupport = load_journey(Path(__file__).with_name("telecom_support.yaml"))
