"""Match phrases and patterns of authors."""
