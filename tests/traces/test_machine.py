"""Any order of commands: what is collected is what a small reference says, and nothing is lost.

Hypothesis fills in, corrects, takes back, skips, leaves, returns, cancels, calls a person and lets
them go, restarts and rolls back. `STATE_MACHINE_EXAMPLES=500` hunts for longer, with new seeds.
"""

from __future__ import annotations
