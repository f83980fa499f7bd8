"""Messages of clients: their texts, their keys, and options that are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from journeygraph.nodes.json_data import canonical
from journeygraph.server.http.problems import Problem

MESSAGE_ID = "Id of the message; sent again, it is no new turn."


class Sent(BaseModel):
    """A part of a body, of which other keys have no effect."""

    model_config = ConfigDict(extra="ignore", strict=True)


class TextPart(BaseModel):
    """A part of a message."""

    type: Literal["text", "input_text", "output_text"] = Field(
        description="Other parts, such as images and audio, are not supported."
    )
    text: str


Content = str | list[TextPart] | None
_T = TypeVar("_T")


def text_of(content: Content) -> str:
    """Return the text of a message."""
    if isinstance(content, list):
        return "\n".join(part.text for part in content)
    return content or ""


def no_message(param: str) -> Problem:
    """Return the problem for a request whose last message is not the user's."""
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "no_user_message",
        f"The last message in '{param}' must be one of the user: it is the turn that is taken.",
    )


def last_of(messages: Sequence[Any], kind: type[_T]) -> _T:
    """Return the last message, which must be of the kind of the user's."""
    if messages and isinstance(last := messages[-1], kind):
        return last
    raise no_message("messages")


def digest_of(*values: Any) -> str:
    """Return the SHA-256 of JSON values, in hex."""
    return hashlib.sha256(canonical(values)).hexdigest()


def message_key(message_id: str) -> str:
    """Return the key of a message that has an id."""
    return f"message:{digest_of(message_id)}"


def never(remedy: str) -> AfterValidator:
    """Return the check of an option that is not supported: it must be null, false or empty."""

    def check(value: Any) -> Any:
        if value:
            raise PydanticCustomError("wanted", "{wanted}", {"wanted": remedy})
        return value

    return AfterValidator(check)


UNSUPPORTED = Field(default=None, description="Not supported.")
NoTools = Annotated[Any, never("leave it out: a journey calls its own tools."), UNSUPPORTED]
"""Type of options with tools."""
