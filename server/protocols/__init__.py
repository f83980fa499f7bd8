"""The protocols of other products, through which their clients talk to journeys."""
