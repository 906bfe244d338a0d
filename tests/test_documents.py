"""What the documents name exists: files, modules, functions and tests."""

import re
from pathlib import Path

import pytest
from django.conf import settings

ROOT = Path(settings.BASE_DIR)
DOCUMENTS = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "sessions_app").rglob("*.md")))
    if path.name != "RENAMED.md"
]

_TEST = re.compile(r"\b(tests/[\w/]+\.py)(?:::(\w+))?")
_PLACE = re.compile(
    r"`((?:\w+/)+)(\w+)?(\.py|\.html|\.js|\.css|\.md|\.json)?(?:\.(\w+)(?:\.\w+)*)?(?:\(\))?`"
)


def named_tests(text: str) -> list[str]:
    """Tests that a document names and that do not exist."""
    found = []
    for path, name in _TEST.findall(text):
        file = ROOT / path
        if not file.is_file() or (name and f"def {name}(" not in file.read_text()):
            found.append(f"{path}::{name}" if name else path)
    return found


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


def known_folders() -> set[str]:
    """First folders of a path that are meant as ours; others are parts of addresses or formats."""
    return {path.name for root in (ROOT, ROOT / "sessions_app") for path in root.iterdir() if path.is_dir()}


def holds(place: Path, name: str) -> bool:
    """Whether a module, or a package's files, has the name."""
    files = [place] if place.is_file() else [*place.glob("*.py")]
    return (
        any(re.search(rf"\b{name}\b", file.read_text()) for file in files) or (place / f"{name}.py").exists()
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_exists(document: Path) -> None:
    text = document.read_text()
    assert [*named_tests(text), *named_places(text, document.parent)] == []


def test_what_does_not_exist_is_named() -> None:
    text = "`runs/nothing.py`, `prompt/verdict.nothing_of_the_kind`, tests/prompt/test_nothing.py::test_it"
    assert len(named_places(text, ROOT)) == 2 and named_tests(text) == [
        "tests/prompt/test_nothing.py::test_it"
    ]
