"""The file of a language: each fault is named with its entry; no language borrows from another."""

from pathlib import Path

import pytest

from journeygraph.journeys.errors import ConfigurationError
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.nodes.values.languages import DATA, language_data, language_from


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_of_the_product_has_its_words(language: str) -> None:
    words = language_data(language)
    assert all((words.relation, words.function_words))
    assert not {*words.grammar["yes"]} & {*words.grammar["no"]}
    assert language_data(f"{language}-XX") is words


def test_a_language_without_a_file_is_read_as_english() -> None:
    assert language_data("xx") is language_data("en")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("names:", "name:", "names: is missing. Add it, as in the English file."),
        ("articles:", "articles: a\narticels:", "articels: is not known. Did you mean 'articles'?"),
        ("clock: 24h", "clock: 25h", "show.clock: "),
        ("articles: le", "articles: le, , la", "articles: "),
        ("{0: minuit", "{zero: minuit", "times.names"),
        ("ordinals: [", 'ordinals: ["zéroième", ', "numbers.ordinals: "),
    ],
)
def test_a_fault_of_a_file_is_named_with_its_entry(
    old: str, new: str, fault: str, tmp_path: Path
) -> None:
    path, text = tmp_path / "fr.yaml", (DATA / "fr.yaml").read_text("utf-8")
    changed = text.replace("{12: midi, 0: minuit}", "{0: minuit, 12: midi}").replace(old, new, 1)
    path.write_text(changed, "utf-8")
    with pytest.raises(ConfigurationError) as refused:
        language_from(path)
    assert fault in str(refused.value)
