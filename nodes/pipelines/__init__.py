"""Agents that work together: what each is asked, who is chosen, what a run gives."""
