"""What the documents name exists: files, modules, functions, tests, and commands with their options."""

import re
import tomllib
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from tests.bench.command import Command as Bench

ROOT = Path(settings.BASE_DIR)
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "sessions_app").rglob("*.md")))
    if path.name != "RENAMED.md"
]

_TEST = re.compile(r"\b((?:tests/[\w/]+|test_\w+)\.py)(?:::(\w+))?|\b(test_\w+)\b(?!\.py)")
"""A file by its path or by its name, perhaps with a test of it, or a test alone."""

_PLACE = re.compile(
    r"`((?:\w+/)+)(\w+)?(\.py|\.html|\.js|\.css|\.md|\.json)?(?:\.(\w+)(?:\.\w+)*)?(?:\(\))?`"
)


def named_tests(text: str) -> list[str]:
    """Tests that a document names and that do not exist."""
    found = []
    for path, inside, alone in _TEST.findall(text):
        name = inside or alone
        sources = [source for file, source in sources_of_tests() if not path or file.endswith(f"/{path}")]
        if not any(f"def {name}(" in source for source in sources) if name else not sources:
            found.append(f"{path}::{name}" if inside else path or name)
    return found


@cache
def sources_of_tests() -> list[tuple[str, str]]:
    """Path, with a slash before it, and text of every module of the tests."""
    return [(f"/{file.relative_to(ROOT)}", file.read_text()) for file in (ROOT / "tests").rglob("*.py")]


def named_places(text: str, near: Path) -> list[str]:
    """Modules, files and names in backticks that do not exist; `near` is the folder of the document."""
    roots = (ROOT, ROOT / "sessions_app", near)
    found = []
    for match in _PLACE.finditer(text):
        folder, stem, suffix, name = match.groups()
        if folder.split("/")[0] not in known_folders():
            continue
        base = folder + (stem or "")
        places = [root / (base + (suffix or "")) for root in roots]
        places += [root / f"{base}.py" for root in roots] if not suffix else []
        existing = [place for place in places if place.exists()]
        if not existing or (name and not any(holds(place, name) for place in existing)):
            found.append(match[0])
    return found


_LINK = re.compile(r"\]\(([^)\s:]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.M)


def dead_links(document: Path, text: str) -> list[str]:
    """Links to a file or a heading that is not there."""
    found = []
    for link in _LINK.findall(text):
        name, _, heading = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (heading and heading not in headings(target)):
            found.append(link)
    return found


def headings(document: Path) -> set[str]:
    """As addresses of GitHub have them."""
    words = (re.sub(r"[^\w\- ]", "", title.lower()) for title in _HEADING.findall(document.read_text()))
    return {title.replace(" ", "-") for title in words}


def known_folders() -> set[str]:
    """First folders of a path that are meant as ours; others are parts of addresses or formats."""
    return {path.name for root in (ROOT, ROOT / "sessions_app") for path in root.iterdir() if path.is_dir()}


def holds(place: Path, name: str) -> bool:
    """Whether a module, or a package's files, has the name."""
    files = [place] if place.is_file() else [*place.glob("*.py")]
    return (
        any(re.search(rf"\b{name}\b", file.read_text()) for file in files) or (place / f"{name}.py").exists()
    )


_COMMAND = re.compile(r"\bmanage\.py (\w+)([^`'#\n]*)")
_OPTION = re.compile(r"(?<!\S)--[a-z][\w-]*")


def unknown_commands(text: str) -> list[str]:
    """Commands of `manage.py` that do not exist, and options that they do not take; `test` takes pytest's."""
    found = []
    for name, arguments in _COMMAND.findall(text):
        if name not in (known := {*get_commands(), "bench", "test"}):
            found.append(name)
        elif name in known - {"test"}:
            options = set(options_of(name))
            found += [f"{name} {one}" for one in _OPTION.findall(arguments) if one not in options]
    return found


def options_of(name: str) -> Iterator[str]:
    command = Bench() if name == "bench" else load_command_class(get_commands()[name], name)
    parsers: list[ArgumentParser] = [command.create_parser("manage.py", name)]
    for parser in parsers:
        for action in parser._actions:
            yield from action.option_strings
            if isinstance(action, _SubParsersAction):
                parsers += action.choices.values()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_exists(document: Path) -> None:
    text = document.read_text()
    assert [*named_tests(text), *named_places(text, document.parent)] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_links_to_exists(document: Path) -> None:
    assert dead_links(document, document.read_text()) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_document_exist(document: Path) -> None:
    assert unknown_commands(document.read_text()) == []


_OF_PACKAGE = re.compile(r"`(\w+)\.(\w+)(?:\.\w+)*(?:\(\))?`")
"""A module of a package, or a name in it, as docstrings and comments write it."""


def test_what_docstrings_name_of_our_packages_exists() -> None:
    gone = []
    for file in sorted((ROOT / "sessions_app").rglob("*.py")):
        for package, name in _OF_PACKAGE.findall(file.read_text()):
            place = ROOT / "sessions_app" / package
            if place.is_dir() and not (place / name).is_dir() and not holds(place, name):
                gone.append(f"{file.relative_to(ROOT)}: {package}.{name}")
    assert gone == []


def test_the_order_of_imports_is_that_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    document = (ROOT / "sessions_app" / "README.md").read_text()
    (told,) = re.findall(r"`(pipeweb → [^`]+)`, held by import-linter", document)
    assert " ".join(told.split()) == " → ".join(layers).replace("sessions_app.", "")


def test_an_unknown_command_and_an_unknown_option_are_named() -> None:
    text = "`manage.py nothing`, `manage.py bench cost --nor-this --ways adaptive`, `manage.py test --lf`"
    assert unknown_commands(text) == ["nothing", "bench --nor-this"]


def test_a_dead_link_is_named() -> None:
    text = "[a](nowhere.md) [b](#no-heading) [c](#pipeweb) [d](sessions_app/README.md#who-may-read)"
    assert dead_links(ROOT / "README.md", text) == ["nowhere.md", "#no-heading"]


def test_what_does_not_exist_is_named() -> None:
    text = "`runs/nothing.py`, `prompt/verdict.nothing_of_the_kind`"
    tests = [
        "tests/prompt/test_nothing.py::test_it",
        "test_turns.py::test_no_such_thing",
        "test_nor_this",
        "test_gone.py",
    ]
    assert len(named_places(text, ROOT)) == 2 and named_tests(" | ".join(tests)) == tests
    assert named_tests("tests/prompt/test_turns.py, test_a_summary_says_that_it_is_one, test_turns.py") == []
