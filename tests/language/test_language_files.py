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
from journeygraph.nodes.language.grammar import PRODUCTIONS
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.values.languages import DATA, language_from

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
    assert {path.stem for path in DATA.glob("??.yaml")} == set(LANGUAGES)
    assert {path.stem for path in SAID.glob("*.yaml")} == set(LANGUAGES)
    assert LANGUAGES[0] == "en"


MOST_COURTESY, MOST_LINES = 15, 250


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_one_short_file(language: str) -> None:
    assert len((DATA / f"{language}.yaml").read_text("utf-8").splitlines()) <= MOST_LINES
    assert len(lexicon_of(language).phrases["courtesy"]) <= MOST_COURTESY


def test_a_list_that_is_read_nowhere_is_not_kept() -> None:
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "nodes").rglob("*.py"))
    forms = (
        " ".join(production.form for production in PRODUCTIONS).replace("[", "").replace("]", "")
    )
    used = {symbol.rstrip("+") for symbol in forms.split()}
    assert [n for n in lexicon_of("en").phrases if n not in used and code.count(f'"{n}"') < 2] == []


@pytest.mark.parametrize(
    ("section", "name", "text", "fault"),
    [
        ("grammar", "yess", "ja", "yess: is not known. Did you mean 'yes'?"),
        ("grammar", "cancel", None, "cancel: is missing. Add it, as in the English file."),
        ("grammar", "no", 7, "grammar.no: "),
        ("", "relation", "not, , no", "an item is empty"),
        ("", "odd", "x", "odd: is not known"),
        ("numbers", "minus", None, "numbers.minus: is missing"),
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
        language_from(_written(tmp_path, data))
    assert f"{tmp_path / 'xx.yaml'}: " in str(refused.value)
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("yes: a\n", "relation: is missing."),
        ("phrases:\n  a: b\n  a: c\n", "'a' is written twice. Join the two."),
        ("- a\n", "is not a mapping. Write 'entry: value'."),
        ("a: {\n", "cannot be read. "),
        ("a: !!python/name:os.system x\n", "cannot be read. could not determine a constructor"),
    ],
)
def test_a_file_that_is_no_such_yaml_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / "xx.yaml"
    path.write_text(text, "utf-8")
    for read in (language_from, catalogue_from):
        if read is language_from or "missing" not in fault:
            with pytest.raises(ConfigurationError) as refused:
                read(path)
            assert f"{path}: " in str(refused.value)
            assert fault in str(refused.value)


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
    with pytest.raises(ConfigurationError, match=r"^nodes/values/data/de\.yaml: "):
        catalogue_from(DATA / "de.yaml")


def test_files_are_read_once() -> None:
    assert catalogue_of("de") is catalogue_of("de")
    assert lexicon_of("de") is lexicon_of("de")


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
        assert f"journeygraph/nodes/values/data/{language}.yaml" in held
        assert f"journeygraph/journeys/languages/{language}.yaml" in held
