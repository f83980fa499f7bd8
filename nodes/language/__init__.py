"""What a message says, understood without any model."""

from nodes.language.ear import Ear, Heard
from nodes.language.languages import load, ready_to_hear
from nodes.language.listening import hear

__all__ = ["Ear", "Heard", "hear", "load", "ready_to_hear"]
