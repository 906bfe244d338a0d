"""The joined scripts and styles: built where a source has changed, found like any static file."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.exceptions import ImproperlyConfigured

from pipeweb import bundles
from tests.conftest import ROOT

IMPORT = re.compile(r"""(?:from |import |@import url\()["'](\.[^"']+)["']""")


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An entry that imports one module, in place of our own."""
    folder = tmp_path / "static"
    (folder / "entries").mkdir(parents=True)
    (folder / "js").mkdir()
    (folder / "entries/page.js").write_text('import "../js/words.js";')
    (folder / "js/words.js").write_text('console.log("first words");')
    monkeypatch.setattr(bundles, "SOURCES", folder)
    bundles.bundle_names.cache_clear()
    yield folder
    bundles.bundle_names.cache_clear()


def test_a_bundle_holds_what_its_entry_imports(sources: Path, tmp_path: Path) -> None:
    folder = bundles.build(tmp_path / "bundles")
    bundle = (folder / "page.js").read_text()
    assert "first words" in bundle
    assert "import" not in bundle


@pytest.mark.parametrize("seconds", [-5, 0, 5])
def test_a_bundle_is_built_again_when_a_module_has_changed_whatever_its_time(
    sources: Path, tmp_path: Path, seconds: int
) -> None:
    folder = bundles.build(tmp_path / "bundles")
    module = sources / "js/words.js"
    at = module.stat().st_mtime_ns + seconds * 1_000_000_000
    module.write_text('console.log("other words");')
    os.utime(module, ns=(at, at))
    assert "other words" in (bundles.build(folder) / "page.js").read_text()


def test_a_bundle_of_the_same_sources_stays(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = bundles.build(tmp_path / "bundles")
    os.utime(sources / "js/words.js")
    monkeypatch.setattr(bundles, "run_bun", lambda folder: pytest.fail("built again"))
    bundles.build(folder)


def test_a_module_that_cannot_be_parsed_is_named(sources: Path, tmp_path: Path) -> None:
    (sources / "js/words.js").write_text("const = 1;")
    with pytest.raises(ImproperlyConfigured, match=r"words\.js"):
        bundles.build(tmp_path / "bundles")


def test_a_rule_has_the_weight_that_its_sheet_gives_it(sources: Path, tmp_path: Path) -> None:
    lists = ".a :is(th, td) { color: red } @media print { .b:is(p, h3) { color: red } .c { color: red } }"
    (sources / "entries/page.css").write_text(f"@layer base; {lists} .a td {{ color: blue }}")
    bundles.bundle_names.cache_clear()
    css = (bundles.build(tmp_path / "bundles") / "page.css").read_text()
    assert re.findall(r"[.@][^{};]+", css) == [
        "@layer base",
        ".a :is(th,td)",
        "@media print",
        ".b:is(p,h3)",
        ".c",
        ".a td",
    ]


def test_nothing_is_left_beside_the_bundles(sources: Path, tmp_path: Path) -> None:
    bundles.build(tmp_path / "out/bundles")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["bundles"]


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "static/entries").iterdir()))
def test_each_entry_is_found_as_a_static_file(name: str) -> None:
    found = finders.find(f"bundles/{name}")
    assert isinstance(found, str)
    assert Path(found).stat().st_size > 0


ADMIN = {"admin.css", "admin-preview.css", "admin-preview.js"}
"""Files of the admin's pages, which are Django's own."""

BLOCKING = {"theme.js"}
"""Read by the pages themselves: it runs before the first paint."""


@pytest.mark.parametrize(("kind", "other"), [("css", ADMIN), ("js", ADMIN | BLOCKING)])
def test_every_sheet_and_module_is_in_a_bundle(kind: str, other: set[str]) -> None:
    used: set[Path] = set()
    waiting = list((ROOT / "static/entries").glob(f"*.{kind}"))
    while waiting:
        path = waiting.pop()
        found = [(path.parent / name).resolve() for name in IMPORT.findall(path.read_text())]
        waiting += [one for one in found if one not in used]
        used.update(found)
    there = {path.name for path in (ROOT / "static" / kind).iterdir()}
    assert there - {path.name for path in used} == there & other


COLOUR = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|oklab|lab|lch)a?\(", re.IGNORECASE)


def test_colours_come_from_the_tokens() -> None:
    sheets = [path for path in (ROOT / "static/css").glob("*.css") if path.name not in ADMIN | {"tokens.css"}]
    found = {path.name: COLOUR.findall(path.read_text()) for path in sheets}
    assert {name: colours for name, colours in found.items() if colours} == {}


def test_a_file_that_is_no_entry_is_not_found() -> None:
    assert finders.find("bundles/../pipeweb.sqlite3") is None
    assert finders.find("bundles/absent.js") is None
