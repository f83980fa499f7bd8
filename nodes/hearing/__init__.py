"""What a message says, understood without any model."""

from nodes.hearing.ear import Ear, Heard
from nodes.hearing.languages import is_loaded, load
from nodes.hearing.listening import hear

__all__ = ["Ear", "Heard", "hear", "is_loaded", "load"]
