"""Answers of models: outputs of all types, verdicts, and the models of the environment."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import httpx2
import pytest
from langchain_openai import ChatOpenAI
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from journeygraph import (
    NEVER,
    ConfigurationError,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelAgent,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from journeygraph.nodes.llm.scripted import Script, ScriptedModel, leads_nowhere, leads_to
from journeygraph.nodes.llm.structured import schema_of
from tests.support.model_shop import HAND, Desk, Shop, giving, server, shop

__all__ = ["server", "shop"]

# What a model agent answers.


class Address(BaseModel):
    post_code: str = Field(alias="postCode")


async def test_a_model_with_aliases_can_be_an_output(shop):
    with ScriptedModel({"response": "x", "value": {"postCode": "2311"}}) as model:
        chat = await shop(model, giving(Address))
        assert await chat.says("hm") == "x"
        assert chat.context == {"value": {"post_code": "2311"}}


async def test_an_output_is_brought_into_its_type_once(shop):
    louder = Annotated[str, AfterValidator(lambda text: text + "!")]
    with ScriptedModel({"response": "x", "value": "oh"}) as model:
        chat = await shop(model, giving(louder))
        await chat.says("hm")
        assert chat.context == {"value": "oh!"}


async def test_a_reply_that_may_be_null_may_be_null(talk, memory_url):
    outputs = {"response": (str | None, OutputField()), "value": (int, OutputField())}

    class Quiet(Journey):
        class TalkPath(Pathway):
            __signature__ = Signature.define("Gives", inputs={}, outputs=outputs)
            __agents__ = ["clerk"]
            __accumulate__ = ["value"]
            __complete_when__ = NEVER

    with ScriptedModel({"response": None, "value": 7}) as model:
        chat = await talk(Quiet, {}, memory_url, options={"model": model})
        await chat.says("hm")
        assert chat.context == {"value": 7}
        assert chat.last.metadata["flags"] == ["no_reply:talk"]


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    friend: Cat = Field(description="Who it is seen with")


class Loose(BaseModel):
    anything: Any = None


def outputs_of(journey: type[Journey]) -> Any:
    signature = journey.spec.pathways["talk"].signature
    assert signature is not None
    return signature.outputs


NOT_STRICT: dict[str, Any] = {
    "oneOf": Annotated[Cat | Dog, Field(discriminator="kind")],
    "prefixItems": tuple[int, str],
    "uniqueItems": set[str],
    "no type, with a default": Loose,
    "an enum without a type": Literal[1, "a"],
    "a format of its own": bytes,
}


@pytest.mark.parametrize("output", NOT_STRICT.values(), ids=NOT_STRICT)
def test_what_openai_refuses_in_a_strict_schema_is_not_sent_as_one(output):
    _, strict = schema_of(outputs_of(giving(output)))
    assert not strict


def test_a_reference_in_a_strict_schema_stands_alone():
    schema, strict = schema_of(outputs_of(giving(Dog)))
    friend = schema["$defs"]["Dog"]["properties"]["friend"]
    assert friend == {
        "anyOf": [{"$ref": "#/$defs/Cat"}],
        "description": "Who it is seen with",
    }
    assert strict


class Foreign:
    """A type that no JSON can have."""


async def test_an_output_that_no_model_can_give_is_refused_in_our_words(shop):
    with pytest.raises(ConfigurationError, match="Gives"):
        await shop(ScriptedModel(), giving(Foreign))


async def test_a_reason_to_stop_that_is_told_with_every_piece_is_one_reason(shop):
    """As some compatible servers do; LangChain joins them to 'stopstopstop'."""
    text = json.dumps({"response": "Hello."})
    pieces = [
        {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": {"content": char}, "finish_reason": "stop"}],
        }
        for char in text
    ]
    body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, content=body))
    model = ChatOpenAI(
        model="m",
        api_key=SecretStr("none"),
        base_url="http://m.invalid/v1",
        max_retries=0,
        http_async_client=httpx2.AsyncClient(transport=transport),
    )
    chat = await shop(model)
    heard = [event async for event in chat.journey.stream_message("hm")]
    assert heard[-1].data["response"].message == "Hello."


# Understanding.


async def test_a_detour_that_is_refused_still_says_who_asked_for_it(shop):
    with ScriptedModel(leads_to("help"), leads_to("more", confidence=0.8)) as model:
        chat = await shop(model, Desk, **HAND)
        await chat.says("help")
        await chat.says("and more")
        data = chat.last.metadata
        assert data["flags"] == ["depth_refused"]
        assert (data["tier"], data["confidence"]) == ("model", 0.8)


async def test_a_cache_of_no_time_does_not_answer_either(shop):
    with ScriptedModel(leads_nowhere, leads_nowhere) as model:
        for number, seconds in enumerate((300, 0)):
            chat = await shop(
                model, Desk, **HAND, session_id=f"s-{number}", intent_cache_ttl_seconds=seconds
            )
            await chat.says("hm")


# The models of the environment.


async def test_what_was_understood_outlives_the_session(server, memory_url):
    server.script = Script(leads_nowhere)
    for number in range(2):
        config = JourneyConfig(persistence=memory_url)
        async with Desk(f"s-{number}", config, agents=HAND) as journey:
            await journey.start()
            await journey.process_message("hm")
    assert len(server.calls) == 1


async def test_a_proxy_of_openai_in_the_environment_is_no_reason_to_fall(
    server, monkeypatch, talk, memory_url
):
    monkeypatch.setenv("OPENAI_PROXY", server.url.removesuffix("/v1"))
    await talk(Shop, {}, memory_url)


async def test_a_model_with_tools_is_asked_for_a_completion_whatever_its_name(
    server, talk, memory_url
):
    """LangChain sends gpt-6 to the Responses API as soon as there are tools."""

    def look(order: str) -> str:
        """Look an order up."""
        return "no"

    server.script = Script({"response": "Hello."})
    agents = {"clerk": ModelAgent(tools=[look])}
    chat = await talk(Shop, agents, memory_url, agent_model="gpt-6-astra")
    assert await chat.says("hm") == "Hello."


def test_a_thousand_ways_to_a_thousand_pathways_are_read_in_time():
    bodies: dict[str, Any] = {
        f"Place{number}Path": type(f"Place{number}Path", (Pathway,), {"__agents__": ["clerk"]})
        for number in range(1000)
    }
    ways = [Transition(IntentTrigger([f"w{n}"]), to_pathway=f"place{n}") for n in range(1000)]
    big: Any = type("Big", (Journey,), {**bodies, "__transitions__": ways})
    assert len(big.spec.reachable) == 1000
