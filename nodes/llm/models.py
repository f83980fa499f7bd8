"""Decide which model answers which step: one that settings or a journey name, or one handed in."""

from __future__ import annotations

import asyncio
import os
import re
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from cachetools import TLRUCache

from journeygraph.journeys import ConfigurationError, JourneyConfig, JourneySpec
from journeygraph.journeys.errors import require_extra
from journeygraph.journeys.spec.model_names import KEY, named_by, named_in
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.llm.client import ChatClient, client_of, quick_chat

OPENAI = "openai"
# A test holds them against LangChain's own list, which takes seconds to import.
PROVIDERS = frozenset(
    {
        *("anthropic", "anthropic_bedrock", "azure_ai", "azure_openai", "baseten", "bedrock"),
        *("bedrock_converse", "bedrock_mantle_anthropic", "bedrock_mantle_openai", "cohere"),
        *("deepseek", "fireworks", "google_anthropic_vertex", "google_genai", "google_vertexai"),
        *("groq", "huggingface", "ibm", "langsmith", "litellm", "meta", "mistralai", "nvidia"),
        *("ollama", OPENAI, "openrouter", "perplexity", "together", "upstage", "xai"),
    }
)
"""Valid words before the colon of a name."""
# What stands behind the colon of a local server's models ("llama:7b", "mistral:instruct"): a size,
# a word for a variant, or a way to write weights. No provider has a model that is called so.
_TAG = re.compile(
    r"(latest|instruct|chat|text|base|code|vision|python|tiny|mini|small|medium|large|free|cloud"
    r"|e?\d+(\.\d+)?[bmk]|\d+x\d+b|v\d+(\.\d+)*|f(p?16|32)|i?q\d+(_\w+)*)([-_.].*)?",
    re.IGNORECASE,
)
_INSTALL = re.compile(r"pip install [\w\[\].-]+")


_ONLY: ContextVar[Any] = ContextVar("_ONLY", default=None)


@contextmanager
def only(model: Any) -> Iterator[None]:
    """Let no other model answer the journeys that are opened here, whatever their parts name.

    Args:
        model: The argument `model` of these journeys; None forbids nothing.
    """
    token = _ONLY.set(model)
    try:
        yield
    finally:
        _ONLY.reset(token)


def has_none() -> bool:
    """Return whether no model at all may answer here."""
    return _ONLY.get() is False


def provider_of(name: str) -> str | None:
    """Return the provider in a name; None leaves it to OpenAI's API, or what is compatible with it.

    A name with a colon may be a tag of a local server ("llama3:8b") or a fine-tuned model
    ("ft:gpt-4o:org::id"); both are such names.
    """
    prefix = name.partition(":")[0]
    return prefix if ":" in name and prefix in PROVIDERS and prefix != OPENAI else None


def without_provider(name: str) -> str:
    """Return a name as OpenAI's API knows it."""
    return name.removeprefix(f"{OPENAI}:")


def check_name(name: str, where: str) -> None:
    """Refuse a name whose provider is misspelt, or cannot be had here."""
    prefix, colon, model = name.partition(":")
    if not colon or _ONLY.get() is not None:
        return
    if prefix in PROVIDERS and not model.strip():
        raise ConfigurationError(
            f"{where} is '{name}': write the name of the model after the colon."
        )
    if prefix not in PROVIDERS and (meant := _meant(prefix, model)):
        raise ConfigurationError(
            f"{where} is '{name}', but there is no provider '{prefix}'. Did you mean "
            f"'{meant}:{model}'?"
        )
    if provider_of(name):
        try:
            _can_be_made(name)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: {error}") from None


@lru_cache(maxsize=256)  # an error is not kept: the package or the key may come
def _can_be_made(name: str) -> None:
    made_by_provider(name)


def made_by_provider(name: str) -> Any:
    """Return the chat model of a name with a provider.

    Raises:
        ConfigurationError: Its package is not installed, with the line that installs it; or it
            cannot be made so, as without a key.
    """
    require_extra("models", f"The model '{name}'", "langchain.chat_models")
    from langchain.chat_models import init_chat_model  # noqa: PLC0415 - seconds to import

    try:
        return init_chat_model(name)
    except ImportError as error:
        found = _INSTALL.search(str(error))
        way = f"install it with: {found[0]}" if found else str(error)
        raise ConfigurationError(
            f"'{name}' needs the package of its provider, which is not installed; {way}"
        ) from None
    except Exception as error:
        raise ConfigurationError(
            f"the model '{name}' cannot be created: {_reason(error)}"
        ) from None


def _meant(prefix: str, model: str) -> str | None:
    """Return the provider that a misspelt one may be; None for what only looks like one."""
    word = prefix.lower().replace("-", "_").strip()
    if not re.fullmatch(r"[a-z_]+", word) or _TAG.fullmatch(model):
        return None
    if close := get_close_matches(word, sorted(PROVIDERS), n=1, cutoff=0.75):
        return close[0]
    longer = [known for known in PROVIDERS if known.startswith(f"{word}_")]  # of "google", "azure"
    return min(longer, key=len, default=None)


def _reason(error: Exception) -> str:
    """Return the reason why a client could not be made; what it was given stays out of the text."""
    faults = getattr(error, "errors", None)
    if callable(faults):
        return "; ".join(str(fault.get("msg", "")) for fault in faults())
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}".removesuffix(": ")


SERVER = "OPENAI_BASE_URL"
MOST_CACHED = 2_000
"""Verdicts that are kept for messages that come again."""

UNDERSTANDING, CHECK = "understanding", "check"
"""Work that may have its own model; all else is done by that of the agents."""

VerdictCache = TLRUCache[bytes, Any]


def new_cache() -> VerdictCache:
    """Return an empty cache of verdicts; each entry `(seconds, value)` lives that long."""
    return TLRUCache(MOST_CACHED, ttu=lambda _, entry, now: now + entry[0], timer=time.monotonic)


@dataclass(frozen=True, eq=False, slots=True)
class ModelSet:
    """Models of a journey by their work: chat models of LangChain, or names.

    Attributes:
        agents: For all work without its own model; None leaves that to the settings.
    """

    agents: Any = None
    understanding: Any = None
    check: Any = None

    @property
    def own(self) -> dict[str, Any]:
        """The models of work that has its own."""
        given = {UNDERSTANDING: self.understanding, CHECK: self.check}
        return {work: model for work, model in given.items() if model is not None}


@dataclass(eq=False, slots=True)
class Models:
    """The models of a process's journeys, as one event loop uses them.

    Attributes:
        handed: The chat model that was handed in; None makes models by their names.
        own: Models of work that has its own, handed in likewise.
        in_one_loop: True if one event loop asks them, which alone can use a connection again.
        cassette: Has the answers of all of them, or records them.
        users: The users that have them open; the last one closes the connections.
    """

    handed: Any = field(default=None, repr=False)
    name: str | None = None
    own: Mapping[str, Any] = field(default_factory=dict, repr=False)
    cache: VerdictCache = field(default_factory=new_cache, repr=False)
    in_one_loop: bool = True
    cassette: Cassette | None = None
    users: int = 0
    _client: Any = field(default=None, repr=False)
    _chats: dict[str, ChatClient] = field(default_factory=dict, repr=False)

    def step(self, configured: str, work: str = "") -> ChatClient:
        """Return the model of a step that the settings name; one handed in serves every step."""
        own = self.own.get(work)
        if own is not None:
            return self._of_its_own(own) if isinstance(own, str) else self.of(own)
        if self.handed is not None:
            return self.of(self.handed)
        return self.named(self.name or configured)

    def of(self, model: Any) -> ChatClient:
        """Return a chat model that an author handed in."""
        is_replaced = self.handed is not None and _ONLY.get() is self.handed
        return self._recorded(chat_of(self.handed if is_replaced else model))

    def named(self, name: str) -> ChatClient:
        """Return the model of a name that an author wrote at a trigger or an agent.

        A model that was handed in goes by that name, unless it names a provider of another one,
        which may answer here.
        """
        if self.handed is not None and (provider_of(name) is None or _ONLY.get() is self.handed):
            plain = without_provider(name)
            handed = chat_of(self.handed, plain)
            if plain == name or handed.is_openai:
                return self._recorded(handed)
        return self._of_its_own(name)

    def _of_its_own(self, name: str) -> ChatClient:
        if self.cassette is not None and self.cassette.is_offline:
            return ChatClient(None, name, is_openai=True, cassette=self.cassette)
        if provider_of(name):
            return self._recorded(provided(name))
        if name not in self._chats:
            self._chats[name] = self._recorded(chat_of(self._made(name)))
        return self._chats[name]

    def _recorded(self, chat: ChatClient) -> ChatClient:
        return chat if self.cassette is None else replace(chat, cassette=self.cassette)

    def _made(self, name: str) -> Any:
        if self._client is None:
            self._client = client_of(keeps_alive=self.in_one_loop)
        # One deadline, ours: a second one around each chunk swallows the end of the first. A proxy
        # is the client's affair.
        model = quick_chat()(
            model=without_provider(name),
            max_retries=0,
            stream_chunk_timeout=None,
            http_async_client=self._client,
            openai_proxy=None,
        )
        if model.use_responses_api is None:  # or it would depend on whether there are tools
            model.use_responses_api = False
        return model

    async def close(self) -> None:
        """Release the models; the last who does closes their connections, the cache stays."""
        self.users -= 1
        if self.users <= 0 and self._client is not None:
            client, self._client = self._client, None
            self._chats.clear()
            await client.aclose()


_open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Models]]
_open = weakref.WeakKeyDictionary()
_provided: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, ChatClient]]
_provided = weakref.WeakKeyDictionary()
# By identity: LangChain's models compare by value, and what one of them said is not another's.
_caches: dict[int, VerdictCache] = {}


def open_models(
    given: Any, config: JourneyConfig | None = None, spec: JourneySpec | None = None
) -> Models | None:
    """Return the models that a journey is given; None if there is none.

    Args:
        given: None takes those that the settings name, where one is configured; False takes none,
            text is the name of a model for every step, and a LangChain chat model serves every
            step itself. A `ModelSet` has several. A `Cassette` has the answers of those behind it.
        config: The settings; without them, as by default.
        spec: The journey, which may name models too.

    Raises:
        ConfigurationError: It is not one of these, a name without a key, or one of a provider that
            cannot be had here.
    """
    check_model(given, config, spec)
    if not is_configured(given, config, spec):
        return None
    if isinstance(given, Cassette):
        models = _on(given)
    elif given is None or isinstance(given, (str, ModelSet)):
        models = _of_environment(given)
    else:
        models = Models(handed=given, cache=_cache_of(given))
    models.users += 1
    return models


def provided(name: str) -> ChatClient:
    """Return the model of a name with a provider, once for each event loop.

    How its connections are closed is its client's affair: some share them, and none says how.
    """
    try:
        made = _provided.setdefault(asyncio.get_running_loop(), {})
    except RuntimeError:  # as `_of_environment`
        made = {}
    if name not in made:
        made[name] = chat_of(made_by_provider(name))
    return made[name]


def is_configured(
    given: Any, config: JourneyConfig | None = None, spec: JourneySpec | None = None
) -> bool:
    """Return whether a journey that is given this has a model.

    That is so with a model, with a key of OpenAI's API in the environment (`OPENAI_API_KEY`), and
    where the settings or the journey name a model of another provider.
    """
    if isinstance(given, Cassette):
        return given.is_offline or is_configured(given.model, config, spec)
    general = given.agents if isinstance(given, ModelSet) else given
    if general is not None:
        return general is not False
    if os.environ.get(KEY):
        return True
    names = (*named_in(config).values(), *dict(named_by(spec)).values())
    return any(map(provider_of, names))


def check_model(
    given: Any, config: JourneyConfig | None = None, spec: JourneySpec | None = None
) -> None:
    """Refuse what no journey can be given as its model; load the libraries that it needs."""
    given = _behind(given)
    own = given.own if isinstance(given, ModelSet) else {}
    general = given.agents if isinstance(given, ModelSet) else given
    own_names = dict(named_by(spec))
    if not is_configured(given, config, spec):
        if general is not False:
            _check_unanswered(own, {**named_in(config), **own_names})
        return
    names = {f"model for {work}": name for work, name in own.items() if isinstance(name, str)}
    for model in (general, *own.values()):
        if model is not None and not isinstance(model, str):
            _check_handed(model)
    if isinstance(general, str):
        names["model"] = general
    elif general is None:
        names |= {n: name for n, name in named_in(config).items() if _WORK.get(n) not in own}
    handed = general is not None and not isinstance(general, str)
    _check_names(names, own_names, handed=handed)


def _behind(given: Any) -> Any:
    return given.model if isinstance(given, Cassette) else given


def _check_unanswered(own: Mapping[str, Any], names: Mapping[str, str]) -> None:
    """Refuse, where no model answers, what was given for one; perhaps a provider is misspelt."""
    if own:
        raise ConfigurationError(
            f"{' and '.join(own)} have models, but the agents have none: define MODEL, name a "
            f"model in the settings, or set {KEY}."
        )
    for where, name in names.items():
        check_name(name, where)


_WORK = {"intent_detection_model": UNDERSTANDING, "validation_model": CHECK}


def _check_names(settings: Mapping[str, str], own: Mapping[str, str], *, handed: bool) -> None:
    """Refuse names that are not valid, then names of models that are not available here.

    Args:
        settings: Names that each step may be asked by.
        own: Names that the journey has next to them.
        handed: True if a model was handed in, which goes by any name of OpenAI's API.
    """
    named = {**settings, **own}
    for where, name in named.items():
        check_name(name, where)
    of_openai = {
        where: name
        for where, name in (settings if handed else named).items()
        if provider_of(name) is None
    }
    if not of_openai:
        return
    if not os.environ.get(KEY):
        where, name = next(iter(of_openai.items()))
        said = f"model='{name}'" if where == "model" else f"{where} is '{name}', which"
        raise ConfigurationError(
            f"{said} is a model of OpenAI's API: set {KEY}, or use a model of another "
            f"provider, such as 'anthropic:...'."
        )
    # Here, and not in the first turn, where it would hold up all others for a second.
    quick_chat()


def _parts(given: Any) -> tuple[Any, str | None, Mapping[str, Any]]:
    """Return the chat model that serves every step, else its name, and the models of own work."""
    wanted = given if isinstance(given, ModelSet) else ModelSet(given)
    named = wanted.agents is None or isinstance(wanted.agents, str)
    return None if named else wanted.agents, wanted.agents if named else None, wanted.own


def _on(cassette: Cassette) -> Models:
    """Return the models of one cassette, which nothing else shares."""
    handed, name, own = _parts(None if cassette.is_offline else cassette.model)
    return Models(handed, name, own, cassette=cassette)


def _of_environment(given: str | ModelSet | None) -> Models:
    handed, name, own = _parts(given)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # compiled for a graph server, which runs it in a loop of its own
        return Models(handed, name, own, in_one_loop=False)
    key = (given, os.environ.get(KEY), os.environ.get(SERVER))
    opened = _open.setdefault(loop, {})
    if key not in opened:
        opened[key] = Models(handed, name, own)
    return opened[key]


def _check_handed(model: Any) -> None:
    from langchain_core.language_models import BaseChatModel  # noqa: PLC0415

    if not isinstance(model, BaseChatModel):
        raise ConfigurationError(
            f"model is {model!r:.80}; give a LangChain chat model (such as ChatOpenAI(...)), the "
            "name of a model, or False for none."
        )
    if type(model).bind_tools is BaseChatModel.bind_tools:
        raise ConfigurationError(
            f"model is a {type(model).__name__}, which does not support tools (bind_tools) and "
            f"so no answers by a schema. Give another chat model."
        )


def _cache_of(model: Any) -> VerdictCache:
    key = id(model)
    if key not in _caches:
        _caches[key] = new_cache()
        weakref.finalize(model, _caches.pop, key, None)
    return _caches[key]


def chat_of(model: Any, name: str | None = None) -> ChatClient:
    """Return a chat model that was handed in, by its own or another name."""
    _check_handed(model)
    own_retries = getattr(model, "max_retries", 0) != 0
    return ChatClient(model, name, _is_openai(model), own_retries)


def _is_openai(model: Any) -> bool:
    """Return whether a model uses OpenAI's chat completions, unlike some subclasses."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(model).__mro__}
    speaks = kinds & {"langchain_openai.ChatOpenAI", "langchain_openai.AzureChatOpenAI"}
    # Some models leave chat completions as soon as there are tools.
    return bool(speaks) and not model._use_responses_api({"tools": [{"type": "function"}]})
