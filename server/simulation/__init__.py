"""Simulated users that talk to a journey: personas and goals as data, outcomes as figures."""
