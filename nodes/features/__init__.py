"""The parts that features of a journey add to a turn."""
