"""Languages as data files: complete, alike, and refused with the way out where they are not."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import journeygraph.journeys
from journeygraph import ConfigurationError
from journeygraph.journeys.languages import catalogue_from, catalogue_of
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.nodes.language.lexicon import DATA, Lexicon, lexicon_of, sayings_from, sayings_of

ROOT = Path(journeygraph.journeys.__file__ or "").resolve().parents[1]
SAID = ROOT / "journeys" / "languages"


def _read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return data


def _written(tmp_path: Path, data: dict[str, Any]) -> Path:
    path = tmp_path / "xx.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), "utf-8")
    return path


def test_every_language_is_read_and_said() -> None:
    assert {path.stem for path in DATA.glob("*.yaml")} == set(LANGUAGES)
    assert {path.stem for path in SAID.glob("*.yaml")} == set(LANGUAGES)
    assert LANGUAGES[0] == "en"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_names_of_english_and_only_regular_expressions(
    language: str,
) -> None:
    english, other = sayings_of("en"), sayings_of(language)
    for section in ("phrases", "words", "type_words", "leads"):
        assert set(getattr(other, section)) == set(getattr(english, section)), section
    for name in other.phrases:
        other.try_out(name)
    lexicon_of(language).load()


def test_a_name_that_is_read_nowhere_is_not_kept() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "nodes").rglob("*.py"))
    named = {*sayings_of("en").phrases, *sayings_of("en").words}
    assert [name for name in sorted(named) if f'"{name}"' not in code] == []


@pytest.mark.parametrize(
    ("section", "name", "text", "fault"),
    [
        ("phrases", "yess", "ja", "phrases.yess: is not known. Did you mean 'yes'?"),
        ("phrases", "yes", None, "phrases.yes: is missing. Add it, as in the English file."),
        ("phrases", True, "ja", "phrases.True: is read as bool. Write the name in quotes."),
        ("phrases", "no", 7, "phrases.no: 7 is not text. Write it in quotes."),
        ("phrases", "no", "nein {so}", "no: {so} is not defined. Add 'so' under parts."),
        (
            "phrases",
            "yes",
            "ja {yes}",
            "yes: {yes} refers back to 'yes'. Write its phrases without it.",
        ),
        ("phrases", "negated", "not .+", "phrases.negated: 'not .+' names nothing. Name named by"),
        ("", "beside", ["fr"], "beside: 'fr' is not a language. Write a list of some of en, "),
        ("", "beside", "de", "beside: must be a list of '- words'."),
        ("parts", "yes", "ja", "parts.yes: also exists under phrases. Keep one of the two."),
        ("parts", "odd", "ja", "parts.odd: is not used by any phrase. Remove it."),
        ("words", "joints", None, "words.joints: is missing. Add it, as in the English file."),
        (
            "ordinals",
            "first",
            "1st",
            "ordinals.first: is read as str. Write a whole number.",
        ),
        ("leads", "dates", "on", "leads.dates: is not known. Did you mean 'date'?"),
    ],
)
def test_a_file_for_reading_with_a_fault_is_refused_with_the_way_out(
    tmp_path: Path, section: str, name: Any, text: Any, fault: str
) -> None:
    data = _read(DATA / "en.yaml")
    within = data[section] if section else data
    if text is None:
        del within[name]
    else:
        within[name] = text
    with pytest.raises(ConfigurationError) as refused:
        sayings_from(_written(tmp_path, data))
    assert f"{tmp_path / 'xx.yaml'}: {fault}" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("phrases: [a]\n", "words: is missing. Add it, as in the English file."),
        ("phrases:\n  a: b\n  a: c\n", "'a' is written twice. Join the two."),
        ("- a\n", "is not a mapping. Write 'entry: value'."),
        ("a: {\n", "cannot be read. "),
        ("a: !!python/name:os.system x\n", "cannot be read. could not determine a constructor"),
    ],
)
def test_a_file_that_is_no_such_yaml_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "xx.yaml"
    path.write_text(text, "utf-8")
    for read in (sayings_from, catalogue_from):
        if read is sayings_from or "missing" not in fault:
            with pytest.raises(ConfigurationError) as refused:
                read(path)
            assert f"{path}: " in str(refused.value)
            assert fault in str(refused.value)


def test_a_bad_regular_expression_is_named_where_it_is_compiled(tmp_path: Path) -> None:
    data = _read(DATA / "en.yaml")
    data["phrases"]["wait"] += "just (a sec\n"
    lexicon = Lexicon((sayings_from(_written(tmp_path, data)),))
    with pytest.raises(ConfigurationError, match=r"xx\.yaml: phrases\.wait: 'just \(a sec' is no"):
        lexicon.load()


@pytest.mark.parametrize(
    ("section", "name", "text", "fault"),
    [
        (
            "neutral",
            "closing",
            None,
            "neutral.closing: is missing. Add it, as in the English file.",
        ),
        ("casual", "bye", "Ciao", "casual.bye: is not known. "),
        ("formal", "wait", False, "formal.wait: False is not text. Write it in quotes."),
        (
            "casual",
            "corrected",
            "{field} ist {wert}",
            "casual.corrected: has other placeholders than the English text. "
            "Write {field}, {value}, each once.",
        ),
        ("address", "polite", "say Sie", "address.polite: is not known. Known are: formal, "),
    ],
)
def test_a_file_for_saying_with_a_fault_is_refused_with_the_way_out(
    tmp_path: Path, section: str, name: str, text: Any, fault: str
) -> None:
    data = _read(SAID / "de.yaml")
    if text is None:
        del data[section][name]
    else:
        data[section][name] = text
    with pytest.raises(ConfigurationError) as refused:
        catalogue_from(_written(tmp_path, data))
    assert f"{tmp_path / 'xx.yaml'}: {fault}" in str(refused.value)


def test_a_fault_in_a_file_of_ours_is_named_from_the_root_of_the_repository() -> None:
    with pytest.raises(ConfigurationError, match=r"^nodes/language/data/de\.yaml: beside: is not"):
        catalogue_from(DATA / "de.yaml")


def test_files_are_read_once() -> None:
    assert catalogue_of("de") is catalogue_of("de")
    assert sayings_of("de") is sayings_of("de")


@pytest.mark.slow
def test_files_are_not_read_by_an_import() -> None:
    code = "import journeygraph.nodes.language, sys; print('yaml' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "False"


def test_the_wheel_holds_the_files_of_every_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hatchling.build import build_wheel  # noqa: PLC0415 - for this test alone

    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / build_wheel(str(tmp_path))) as wheel:
        held = set(wheel.namelist())
    for language in LANGUAGES:
        assert f"journeygraph/nodes/language/data/{language}.yaml" in held
        assert f"journeygraph/journeys/languages/{language}.yaml" in held


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_is_slow_where_its_words_are_said_over_and_over(language: str) -> None:
    lexicon = lexicon_of(language)
    said = {phrase for name in ("filler", "yes", "no", "wish", "lead") for phrase in _words(name)}
    for piece in sorted(said):
        message = f"{piece} " * 40 + "x"
        for name in sayings_of(language).phrases:
            if name.startswith("form_"):
                [form.fullmatch(message) for form in lexicon.forms(name)]
            else:
                assert lexicon.begins(message, name) <= len(message)
                lexicon.says(message, name)


def _words(name: str) -> list[str]:
    """Return some plain phrases of a name in all languages."""
    lines = [line for each in LANGUAGES for line in sayings_of(each).lines(name)]
    plain = [phrase for line in lines for phrase in line.split("|")]
    return [phrase for phrase in plain if phrase.replace(" ", "").isalpha()][::4]
