"""Settings are checked when they are made: nothing unknown or out of range starts a session."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from journeygraph import ConfigurationError, JourneyConfig, JourneyError, Texts


def refused(**settings: Any) -> str:
    """What the refusal of these settings says."""
    with pytest.raises(ConfigurationError) as raised:
        JourneyConfig(**settings)
    return str(raised.value)


def test_the_defaults_are_those_of_the_documents() -> None:
    """ADR-025 section 5.1; the store by DESIGN.md section 4, row Stores."""
    config = JourneyConfig()

    assert config.intent_detection_model == "gpt-4o-mini"
    assert config.intent_confidence_threshold == 0.7
    assert config.max_pathway_depth == 10
    assert config.pathway_timeout_seconds == 60.0
    assert config.max_context_size_bytes == 1024 * 1024
    assert config.error_recovery == "graceful"
    assert config.max_retries == 3
    assert config.persistence == "sqlite:///journeys.db"
    assert config.session_ttl_seconds == 30 * 86_400
    assert config.keep_versions == 100


def test_a_config_cannot_be_changed_only_replaced() -> None:
    config = JourneyConfig(persistence="memory://")

    with pytest.raises(FrozenInstanceError):
        config.max_pathway_depth = 3  # type: ignore[misc]
    assert replace(config, max_pathway_depth=3).max_pathway_depth == 3


def test_settings_are_given_by_name() -> None:
    wrong: Any = JourneyConfig

    with pytest.raises(TypeError):
        wrong("memory://")
    with pytest.raises(TypeError, match="max_depth"):
        wrong(max_depth=3)


@pytest.mark.parametrize(
    "url", ["memory://", "memory://a b", "sqlite:///a.db", "sqlite:////a/b.db"]
)
def test_a_store_is_named_by_url(url: str) -> None:
    assert JourneyConfig(persistence=url).persistence == url


@pytest.mark.parametrize(
    ("old", "new"), [("memory", "memory://"), ("sqlite", "sqlite:///journeys.db")]
)
def test_the_old_name_of_the_store_is_understood(old: str, new: str) -> None:
    assert JourneyConfig(context_persistence=old).persistence == new


def test_the_old_name_takes_urls_too() -> None:
    assert JourneyConfig(context_persistence="memory://x").persistence == "memory://x"


def test_the_old_name_does_not_come_back_over_a_new_store() -> None:
    config = JourneyConfig(context_persistence="memory")

    assert replace(config, persistence="memory://other").persistence == "memory://other"


@pytest.mark.parametrize("old", ["dataflow", "redis"])
def test_stores_of_the_documents_that_do_not_exist_are_refused_with_a_remedy(old: str) -> None:
    said = refused(context_persistence=old)

    assert f"context_persistence='{old}' is not supported." in said
    assert "persistence='sqlite:///FILE'" in said


def test_the_old_and_the_new_name_may_not_disagree() -> None:
    said = refused(persistence="memory://a", context_persistence="memory")

    assert "Give persistence alone." in said


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory", "Did you mean 'memory://'?"),
        ("sqlite://a.db", "Did you mean 'sqlite:///'?"),
        ("sqlite:///", "without a file name"),
        ("mysql://db", "which is not a supported store"),
        ("", "which is not a supported store"),
        (None, "which is not a supported store"),
    ],
)
def test_an_unknown_store_is_refused(url: Any, said: str) -> None:
    assert said in refused(persistence=url)


@pytest.mark.parametrize("mode", ["graceful", "retry", "fail_fast"])
def test_ways_to_recover(mode: str) -> None:
    assert JourneyConfig(error_recovery=mode).error_recovery == mode


def test_an_unknown_way_to_recover_is_refused() -> None:
    assert refused(error_recovery="gracefull") == (
        "error_recovery is 'gracefull'. Did you mean 'graceful'? "
        "One of: graceful, retry, fail_fast."
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("intent_confidence_threshold", 1.1),
        ("intent_confidence_threshold", -0.1),
        ("intent_confidence_threshold", "high"),
        ("max_pathway_depth", 0),
        ("max_pathway_depth", 2.5),
        ("max_pathway_depth", True),
        ("pathway_timeout_seconds", 0),
        ("pathway_timeout_seconds", float("nan")),
        ("pathway_timeout_seconds", float("inf")),
        ("max_context_size_bytes", 1),
        ("max_retries", -1),
        ("retry_backoff_seconds", -1),
        ("session_ttl_seconds", 0),
        ("session_ttl_seconds", None),
        ("keep_versions", 99),
    ],
)
def test_a_number_out_of_range_is_refused(name: str, value: Any) -> None:
    said = refused(**{name: value})

    assert said.startswith(f"{name} is {value!r}; it must be a")
    assert " from " in said


@pytest.mark.parametrize("value", ["preferences", [1], 3, None])
def test_prunable_is_a_list_of_names(value: Any) -> None:
    assert refused(prunable=value).startswith("prunable must be a list of context names")


@pytest.mark.parametrize("key", [b"short", b"x" * 31, b"x" * 33, "x" * 32, bytearray(32)])
def test_a_key_is_32_bytes(key: Any) -> None:
    said = refused(encryption_key=key)

    assert "32 bytes (AES-256)" in said
    assert "xxx" not in said


def test_a_key_is_never_shown() -> None:
    assert "secret" not in repr(JourneyConfig(encryption_key=b"secret" + b"." * 26))


def test_texts_can_be_worded_anew_one_by_one() -> None:
    texts = JourneyConfig(texts=Texts(closing="Bye.")).texts

    assert texts.closing == "Bye."
    assert texts.apology == Texts().apology


@pytest.mark.parametrize("texts", [{"closing": "Bye."}, None, Texts(closing=" "), Texts(empty=3)])  # type: ignore[arg-type]
def test_texts_say_something(texts: Any) -> None:
    assert refused(texts=texts).startswith("texts")


def test_a_refusal_is_a_journey_error_and_a_value_error() -> None:
    assert issubclass(ConfigurationError, JourneyError)
    assert issubclass(ConfigurationError, ValueError)


@pytest.mark.parametrize("region", ["germany", "de", "", None])
def test_a_region_is_a_country_of_two_capitals(region: Any) -> None:
    assert "such as 'US' or 'DE'" in refused(region=region)


@pytest.mark.parametrize("timezone", ["Mars/Olympus", "../etc", "", 5])
def test_a_time_zone_is_an_iana_name(timezone: Any) -> None:
    assert "such as 'Europe/Berlin'" in refused(timezone=timezone)
    assert JourneyConfig(timezone="Europe/Berlin").timezone == "Europe/Berlin"
