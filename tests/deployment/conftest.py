"""One deployment for all its tests; skipped, with a notice, where a program for it is missing."""

from collections.abc import Iterator

import pytest

from tests.conftest import IN_CI
from tests.deployment import postgres
from tests.deployment.programs import found
from tests.deployment.site import Site
from tests.deployment.visitor import Visitor

NAME, PASSWORD = "ada", "analytical-engine"
PROGRAMS = ("nginx", "redis-server", "openssl")

missing: list[str] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.nodeid.startswith("tests/deployment/")]
    if not mine:
        return
    missing.extend(name for name in PROGRAMS if not found(name))
    if not postgres.is_possible():
        missing.append("PostgreSQL")
    if missing and IN_CI:
        raise pytest.UsageError(f"CI needs {', '.join(missing)}")
    for item in mine:
        item.add_marker(pytest.mark.deployment)
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"missing: {', '.join(missing)}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if missing:
        terminalreporter.write_line(f"NOTICE: deployment tests skipped; missing: {', '.join(missing)}")


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site(tmp_path_factory.mktemp("site")) as site:
        variables = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}
        site.manage("createsuperuser", "--noinput", "--username", NAME, "--email", "", **variables)
        yield site


@pytest.fixture
def site(running: Site) -> Site:
    """The deployment with everything up."""
    running.ensure()
    return running


@pytest.fixture(scope="session")
def signed_in(running: Site) -> Iterator[Visitor]:
    visitor = Visitor(running)
    with visitor.client:
        visitor.sign_in(NAME, PASSWORD)
        yield visitor


@pytest.fixture
def visitor(site: Site, signed_in: Visitor) -> Visitor:
    """A person who is signed in, in front of a deployment with everything up."""
    return signed_in
