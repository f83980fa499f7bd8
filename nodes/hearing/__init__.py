"""What a message says, understood without any model."""

from nodes.hearing.ear import Ear, Heard
from nodes.hearing.languages import load, ready_to_hear
from nodes.hearing.listening import hear

__all__ = ["Ear", "Heard", "hear", "load", "ready_to_hear"]
