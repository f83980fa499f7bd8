"""Find and import what a name means: journeys, pipelines, and what does their work."""
