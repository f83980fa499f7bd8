"""Find and import objects by name: journeys, pipelines, agents and tools."""
