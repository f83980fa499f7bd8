"""Measure the structure of the product: `python -m tests.support.house` prints its measures.

Rooms are folders of a package; a file at the root of a package is a room of its own. The door
from the language to the runtime is left out of the imports.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("journeys", "nodes", "graphs", "server")
DOOR = "journeys/door.py"
PAGES = ("README.md", "AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
PROMPTS = ("prompts.py", "form_prompt.py", "replies.py", "identity.py")
"""Files with texts for models."""
MOST_FILES = 12
"""Most Python files in a folder, `__init__.py` aside."""
_LEFT_OUT = ("examples", "migrations", "templates")
_RELATIVE = re.compile(r"(What|Which|Who|Whose|Whom|How|When|Where|Why|Whether)\b")
_UNHELPFUL = re.compile(
    r"(?<![Tt]here )\b(?:is|are) none\b"
    r"|\b(?:[Nn]obody|[Ss]omebody|[Ww]hoever|heard|beside)\b(?![`:\"])"
    r"|\b(?:comes?|came) to\b|\b[Tt]akes? note\b|\b[Ss]ay whether\b|\b[Ll]ets? go\b"
    r"|\bat hand\b|\bas it stands\b|\bof its own accord\b|\bin vain\b"
)
"""Words that make a sentence harder to read, with a plain word for each."""
_FURTHER = re.compile(
    r"(?<!\.)\b(?:[Tt]old|[Ss]aid|stands?|stood|[Aa]nybody|wholly|hence|anew|mends?)\b(?![`:\"])"
    r"|\b(?:speaks?|tells?) of\b|\b(?:goes?|went) on\b|\bbut for\b|\bleft alone\b"
    r"|\bof (?:its|their) own(?=[,.;:)\"]|$)|\bof late\b|\bby now\b"
)
"""More of them."""
_HEAD = re.compile(r'(?:\s|#.*\n)*[rR]?"""(.*?)"""', re.DOTALL)
"""The docstring of a module, at the beginning of its text."""
_FILLER = re.compile(
    r"\b(?:add|check|draw|find|get|make|read|refuse|return|run|say|send|show|take|warn|write|yield"
    r"|an?|all|and|are|as|at|by|for|from|has|if|in|into|is|its?|no|none|not|of|on|one|or|that|the"
    r"|their|to|with)\b",
    re.IGNORECASE,
)
"""Words of a docstring that say nothing by themselves."""
_ITEM = re.compile(r" +\*{0,2}\w+(?: \([^)]*\))?: (.*)")
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")


@dataclass(frozen=True)
class Source:
    """One file of the product.

    Attributes:
        path: Its path from the root.
        module: Its dotted name; that of a package for its `__init__.py`.
        text: Its text.
    """

    path: Path
    module: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return its syntax tree; to parse all files takes a second."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return all nodes of its tree; to walk through all trees takes half a second."""
        return tuple(ast.walk(self.tree))

    @property
    def is_counted(self) -> bool:
        """True if folders and rooms count it; files that are left out have their own layout."""
        return not any(part in _LEFT_OUT for part in self.path.parts)

    @property
    def room(self) -> str:
        """Return its folder; the file itself where it is at the root of a package."""
        return str(self.path if len(self.path.parts) == 2 else self.path.parent)


@cache
def sources() -> tuple[Source, ...]:
    """Return all files of the product, read once."""
    found = []
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            text, path = file.read_text(), file.relative_to(ROOT)
            name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            found.append(Source(path, f"journeygraph.{name}", text))
    return tuple(found)


def crowded() -> dict[str, int]:
    """Return folders with too many Python files, and how many each has."""
    counted = [one for one in sources() if one.is_counted and one.path.name != "__init__.py"]
    files = Counter(str(one.path.parent) for one in counted)
    return {folder: number for folder, number in files.items() if number > MOST_FILES}


def mutual() -> list[tuple[str, str]]:
    """Return pairs of rooms that import each other."""
    counted = [one for one in sources() if one.is_counted]
    rooms = {one.module: one.room for one in counted}
    edges = {
        (one.room, rooms[name])
        for one in counted
        if str(one.path) != DOOR
        for name in _imported(one, rooms)
    }
    return sorted(pair for pair in edges if pair[0] < pair[1] and pair[::-1] in edges)


def _imported(source: Source, known: dict[str, str]) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                name = name if name in known else node.module
                if name in known:
                    yield name


def repeated() -> dict[str, int]:
    """Return file names that are used more than once, and how often."""
    names = Counter(one.path.name for one in sources() if one.is_counted)
    return {name: n for name, n in names.items() if n > 1 and name != "__init__.py"}


@cache
def docstrings() -> tuple[tuple[str, str], ...]:
    """Return the place and the text of each docstring, those of attributes too.

    Examples are left out: their docstrings are prompts.
    """
    found = (_docstrings(one) for one in sources() if "examples" not in one.path.parts)
    return tuple(each for texts in found for each in texts)


def _docstrings(source: Source) -> Iterator[tuple[str, str]]:
    for node in source.nodes:
        body = getattr(node, "body", None)
        for part in body if isinstance(body, list) else ():
            value = part.value if isinstance(part, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield f"{source.path}:{value.lineno}", value.value


@cache
def _tests() -> tuple[tuple[Path, str], ...]:
    files = sorted((ROOT / "tests").rglob("*.py"))
    return tuple((file.relative_to(ROOT), file.read_text()) for file in files)


def questioning_docstrings() -> list[str]:
    """Return docstrings that begin with a question word; of the tests only those of modules."""
    heads = [(str(path), _HEAD.match(text)) for path, text in _tests()]
    found = [*docstrings(), *((path, head[1]) for path, head in heads if head)]
    return [f"{place}: {_line(text)}" for place, text in found if _RELATIVE.match(text.lstrip())]


def repeating_docstrings() -> list[str]:
    """Return docstrings of private functions with no word that the function itself lacks."""
    return [
        f"{one.path}:{node.lineno}: {node.name}"
        for one in sources()
        for node in one.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if node.name.startswith("_") and not node.name.endswith("__")
        if len(node.body) > 1 and _repeats(node)
    ]


def _repeats(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    said = ast.get_docstring(node)
    code = " ".join(map(ast.unparse, (node.args, *node.body[1:])))
    return said is not None and _stems(_FILLER.sub("", said)) <= _stems(f"{node.name} {code}")


def _stems(text: str) -> frozenset[str]:
    """Return the words of a text or of names, without their plural."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)
    return frozenset(word.lower() for word in words) | {w.lower().removesuffix("s") for w in words}


def questioning_items() -> list[str]:
    """Return descriptions of arguments and attributes that begin with a question word.

    Of the tests, only files with such a line are parsed: to parse all of them takes four seconds.
    """
    suspects = (each for each in _tests() if _questioning(each[1]))
    of_tests = (_docstrings(Source(path, "", text)) for path, text in suspects)
    found = [*docstrings(), *(each for texts in of_tests for each in texts)]
    return [f"{place}: {line}" for place, text in found for line in _questioning(text)]


def _questioning(text: str) -> list[str]:
    items = [(line, _ITEM.fullmatch(line)) for line in text.splitlines() if ":" in line]
    return [line.strip() for line, item in items if item and _RELATIVE.match(item[1])]


def unhelpful_docstrings() -> list[str]:
    """Return docstrings with words that never help a reader."""
    return list(_unhelpful((place, _line(text)) for place, text in docstrings()))


def unhelpful_messages() -> list[str]:
    """Return texts of errors, logs and the command line with such words.

    Texts for models are left out.
    """
    counted = [one for one in sources() if one.is_counted and one.path.name not in PROMPTS]
    return list(
        _unhelpful(
            (f"{one.path}:{node.lineno}", str(node.value))
            for one in counted
            for node in _texts(one)
        )
    )


def _texts(source: Source) -> Iterator[ast.Constant]:
    """Yield texts of several words that are not docstrings."""
    apart = {id(node.value) for node in source.nodes if isinstance(node, ast.Expr)}
    constants = (node for node in source.nodes if isinstance(node, ast.Constant))
    for node in constants:
        if isinstance(node.value, str) and id(node) not in apart and " " in node.value.strip():
            yield node


def unhelpful_pages() -> list[str]:
    """Return lines of the documents with such words, outside of code and quotes."""
    pages = sorted(page for pattern in PAGES for page in ROOT.glob(pattern))
    return list(_unhelpful(line for page in pages for line in _prose(page)))


def _prose(page: Path) -> Iterator[tuple[str, str]]:
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        is_code ^= line.lstrip().startswith("```")
        if not is_code:
            yield f"{page.relative_to(ROOT)}:{number}", _QUOTED.sub("", line)


def _unhelpful(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    for place, text in texts:
        if match := _UNHELPFUL.search(text) or _FURTHER.search(text):
            yield f"{place}: {match[0]}"


def _line(text: str) -> str:
    return " ".join(text.split())


def function_lines() -> list[int]:
    """Return how many lines each function has, in ascending order."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for one in sources() for node in one.nodes if isinstance(node, kinds))
    return sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)


def main() -> None:
    """Print all measures."""
    lengths = function_lines()
    rows = {
        "files": len(sources()),
        "lines": sum(len(one.text.splitlines()) for one in sources()),
        f"folders of more than {MOST_FILES} files": crowded() or 0,
        "rooms that import each other": mutual() or 0,
        "file names used more than once": len(repeated()),
        "lines of a function, median": statistics.median(lengths),
        "lines of a function, p95": p95(lengths),
        "docstrings that begin with a question word": len(questioning_docstrings()),
        "arguments and attributes that begin with a question word": len(questioning_items()),
        "docstrings with unhelpful words": len(unhelpful_docstrings()),
        "docstrings of private functions that repeat them": len(repeating_docstrings()),
        "messages with unhelpful words": len(unhelpful_messages()),
        "lines of documents with unhelpful words": len(unhelpful_pages()),
    }
    sys.stdout.writelines(f"{name}: {value}\n" for name, value in rows.items())


def p95(lengths: list[int]) -> int:
    """Return the length that 95 % of the functions do not exceed."""
    return lengths[round(0.95 * (len(lengths) - 1))]


if __name__ == "__main__":
    main()
