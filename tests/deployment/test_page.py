"""The page DEPLOYMENT.md says what is so."""

import re

import pytest

from sessions_app.metrics import REGISTRY
from tests.conftest import ROOT
from tests.deployment.site import FILES, Site

PAGE = (ROOT / "sessions_app" / "DEPLOYMENT.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(path.name for path in FILES.iterdir()))
def test_every_file_of_the_deployment_is_on_the_page(file: str) -> None:
    assert file in PAGE


def test_every_figure_on_the_page_exists_and_none_is_left_out() -> None:
    shown = {name.removesuffix("_total") for name in re.findall(r"`(pipeweb_[a-z_]+)", PAGE)}
    assert shown == {metric.name for metric in REGISTRY.collect() if metric.name.startswith("pipeweb_")}


def test_every_value_to_change_is_in_the_file_that_the_page_names() -> None:
    rows = re.findall(r"^\| ((?:`[\w.]+`(?:, )?)+) \| `([^`]+?)…?`", PAGE, re.M)
    assert len(rows) == 7
    for files, example in rows:
        for file in re.findall(r"`([^`]+)`", files):
            assert example in (FILES / file).read_text(encoding="utf-8"), (file, example)


def test_the_settings_of_the_page_refuse_to_start_without_a_secret(site: Site) -> None:
    bare = {name: value for name, value in site.environment.items() if name != "SECRET_KEY"}
    done = site.run("check", environment=bare)
    assert done.returncode == 2 and "SECRET_KEY is required" in done.stderr


def test_django_finds_no_fault_with_the_deployment_but_what_nginx_does(site: Site) -> None:
    done = site.run("check", "--deploy", environment=site.environment)
    # nginx sends people to https; about other names of the domain the installation decides nothing.
    assert set(re.findall(r"security\.W\d+", done.stderr)) <= {
        f"security.W{n}" for n in ("005", "008", "021")
    }
    assert done.returncode == 0


def test_nginx_finds_no_fault_with_the_configuration(site: Site) -> None:
    assert "[warn]" not in site.nginx.output.read_text()
