"""OpenAI's chat completions, as LangChain asks for them, without what costs a turn its time."""

from __future__ import annotations

from typing import Any

from langchain_openai import ChatOpenAI


class QuickChatOpenAI(ChatOpenAI):
    """A ChatOpenAI whose messages go into the body as they are.

    The client would compare each message with the types of all messages there are, which takes
    longer than everything else that we do in a turn; LangChain has given them their form already.
    """

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload = super()._get_request_payload(*args, **kwargs)
        body = {**(payload.get("extra_body") or {}), "messages": payload["messages"]}
        return {**payload, "messages": [], "extra_body": body}
