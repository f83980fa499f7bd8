"""Names of models: `provider:model` as LangChain knows them, anything else for OpenAI's API."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from rapidfuzz.distance import OSA

from journeys import ConfigurationError

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
"""What can stand before the colon of a name."""
# What stands behind the colon of a local server's models ("llama:7b", "mistral:instruct"): a size,
# a word for a variant, or a way to write weights. No provider has a model that is called so.
_TAG = re.compile(
    r"(latest|instruct|chat|text|base|code|vision|python|tiny|mini|small|medium|large|free|cloud"
    r"|e?\d+(\.\d+)?[bmk]|\d+x\d+b|v\d+(\.\d+)*|f(p?16|32)|i?q\d+(_\w+)*)([-_.].*)?",
    re.IGNORECASE,
)
_LONG = 8
"""Letters of a provider from which on two of them may be wrong."""
_INSTALL = re.compile(r"pip install [\w\[\].-]+")


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
    """Refuse a name whose provider is misspelt, or cannot be had here.

    Args:
        name: As it was written.
        where: What names it, for the error.

    Raises:
        ConfigurationError: With the provider that is meant, or how to install its package.
    """
    prefix, colon, model = name.partition(":")
    if not colon:
        return
    if prefix in PROVIDERS and not model.strip():
        raise ConfigurationError(f"{where} is '{name}': write the model's name behind the colon.")
    if prefix not in PROVIDERS and (meant := _meant(prefix, model)):
        raise ConfigurationError(
            f"{where} is '{name}', and there is no provider '{prefix}'. Did you mean "
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
        raise ConfigurationError(f"'{name}' cannot be made: {_reason(error)}") from None


def _meant(prefix: str, model: str) -> str | None:
    """Return the provider that a misspelt one may be; None for what only looks like one."""
    word = prefix.lower().replace("-", "_").strip()
    if not re.fullmatch(r"[a-z_]+", word) or _TAG.fullmatch(model):
        return None
    near = min(sorted(PROVIDERS), key=lambda known: OSA.distance(word, known))
    allowed = 2 if len(near) >= _LONG else 1
    if OSA.distance(word, near) <= min(allowed, len(word) // 3):
        return near
    longer = [known for known in PROVIDERS if known.startswith(f"{word}_")]  # of "google", "azure"
    return min(longer, key=len, default=None)


def _reason(error: Exception) -> str:
    """Say why a client could not be made; what it was given stays out of the text."""
    faults = getattr(error, "errors", None)
    if callable(faults):
        return "; ".join(str(fault.get("msg", "")) for fault in faults())
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}".removesuffix(": ")
