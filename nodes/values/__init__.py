"""Values of fields: what was said, read into plain data; what they must be; how they are shown."""

from nodes.values.setting import Setting, Unreadable

__all__ = ["Setting", "Unreadable"]
