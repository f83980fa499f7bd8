"""Close a turn: what was said becomes one message, and its record is done."""

from __future__ import annotations

from nodes.services import Services
from nodes.state import PARTING, Turn, Update


def closed(services: Services, turn: Turn) -> Update:
    """Close the record; the replies of all hops become one message."""
    reply = PARTING.join(turn["replies"])
    # With an id, a graph that holds this one as a node knows the message again.
    message = {"role": "assistant", "content": reply, "id": f"reply-{turn['number']}"}
    messages = [message] if reply else []
    usage = services.usage.counted() if services.usage else None
    done: Turn = {**turn, "run": None, "usage": usage, "done": True}
    return {"turn": done, "messages": messages}
