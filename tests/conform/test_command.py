"""`manage.py conform`, as somebody at a terminal meets it."""

import dataclasses
import io
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.core.management import CommandError, call_command

from sessions_app.conform.probes import PROBES
from sessions_app.conform.report import ConformanceReport
from sessions_app.context.model_lookup import clear_caches, facts_of
from sessions_app.management import conformance
from sessions_app.management.commands import conform as command
from sessions_app.models import ModelFacts
from tests.conform.helpers import KEY, MODEL, Provider, verdicts


@pytest.fixture(autouse=True)
def fresh(transactional_db: None, settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.PIPEWEB_DATA = tmp_path
    settings.GEMINI_API_KEY = ""
    settings.GOOGLE_GEMINI_BASE_URL = "http://gemini.invalid"
    clear_caches()
    yield
    clear_caches()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Provider:
    """The emulator as the provider behind a key: only the socket is not there."""
    settings.GEMINI_API_KEY = KEY
    provider = Provider()
    monkeypatch.setattr(conformance, "provider_transport", lambda base_url: provider)
    live_target = conformance.live_target
    monkeypatch.setattr(
        command, "live_target", lambda url: dataclasses.replace(live_target(url), pause=provider.pause)
    )
    return provider


def run(**options: Any) -> str:
    out = io.StringIO()
    call_command("conform", stdout=out, **options)
    return out.getvalue()


def kept(folder: Path) -> ConformanceReport:
    (path,) = (folder / "conform").iterdir()
    return ConformanceReport.read(path)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_prints_a_line_for_each_probe_and_keeps_a_dated_file(tmp_path: Path) -> None:
    printed = run()
    report = kept(tmp_path)
    assert [line.split()[2] for line in printed.splitlines()[:-2]] == list(verdicts(report))
    assert report.is_emulator and report.model == MODEL and report.sdk.startswith("google-genai ")
    assert "signature_demanded" in printed and "Kept in" in printed


def test_live_without_a_key_says_what_to_do() -> None:
    with pytest.raises(CommandError, match="GEMINI_API_KEY"):
        run(live=True)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"save": True}, "--live"),
        ({"yes": True}, "--live"),
        ({"resume": Path("x")}, "--live"),
        ({"live": True, "budget": 1}, "0.05"),
        ({"live": True, "compare": Path("x")}, "--compare"),
        ({"live": True, "resume": Path("x"), "report": Path("y")}, "--report"),
        ({"skip": ["thunder"]}, "thunder"),
        ({"compare": Path("nowhere")}, "nowhere"),
    ],
)
def test_options_that_do_not_go_together_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(CommandError, match=named):
        run(**options)


def test_an_assumption_that_differs_ends_with_an_error(tmp_path: Path) -> None:
    ModelFacts.objects.create(model=MODEL, explicit_minimum=5_000)
    with pytest.raises(CommandError) as differs:
        run()
    assert differs.value.returncode == 2
    assert kept(tmp_path).learned()["explicit_minimum"] == 1_024


def test_the_plan_comes_first_and_nothing_is_sent_unasked(provider: Provider, tmp_path: Path) -> None:
    out = io.StringIO()
    with pytest.raises(CommandError, match="--yes") as asked:
        call_command("conform", live=True, stdout=out, stdin=io.StringIO("y\n"))
    assert asked.value.returncode == 2 and not provider.requests and not (tmp_path / "conform").exists()
    plan = out.getvalue()
    assert all(probe.name in plan for probe in PROBES)
    assert "0.50 in" in plan and "1.00 for an hour of storage" in plan and "of $0.0500" in plan


@pytest.mark.parametrize(("said", "sends"), [("y\n", True), ("yes\n", True), ("n\n", False), ("", False)])
def test_it_asks_at_a_terminal(provider: Provider, said: str, sends: bool) -> None:
    skip = [probe.name for probe in PROBES if probe.name != "limits"]
    if sends:
        run(live=True, stdin=Terminal(said), skip=skip)
    else:
        with pytest.raises(CommandError, match=r"Nothing was sent\."):
            run(live=True, stdin=Terminal(said), skip=skip)
    assert bool(provider.requests) == sends


def test_a_plan_above_the_budget_is_refused_and_says_what_to_leave_out(provider: Provider) -> None:
    with pytest.raises(CommandError, match=r"--skip.*implicit_prefix") as dear:
        run(live=True, yes=True, model="gemini-3.1-pro-preview")
    assert dear.value.returncode == 2 and not provider.requests
    with pytest.raises(CommandError, match="could cost"):
        run(live=True, yes=True, budget=Decimal("0.01"))


def test_a_live_run_is_kept_without_its_key_and_compares_with_the_emulator(
    provider: Provider, tmp_path: Path
) -> None:
    path = tmp_path / "live.json"
    run(live=True, yes=True, report=path)
    report = ConformanceReport.read(path)
    assert not report.is_emulator and report.host == "gemini.invalid" and 0 < report.usd < report.budget
    assert report.prices.storage == 1 and "price page" in report.prices.source
    assert KEY not in path.read_text() and KEY in provider.requests[0].headers["x-goog-api-key"]
    printed = run(compare=path)
    assert "differs" not in printed and "not compared" not in printed
    with pytest.raises(CommandError, match="exists"):
        run(live=True, yes=True, report=path)


def test_a_comparison_that_differs_names_it_and_fails(provider: Provider, tmp_path: Path) -> None:
    error = {"code": 400, "message": "Nobody knows this model.", "status": "INVALID_ARGUMENT"}

    def otherwise(request: httpx2.Request) -> httpx2.Response | None:
        is_streamed = request.url.path.endswith("streamGenerateContent")
        return httpx2.Response(404, json={"error": error}) if is_streamed else None

    provider.handler = otherwise
    path = tmp_path / "live.json"
    with pytest.raises(CommandError):
        run(live=True, yes=True, report=path)
    out = io.StringIO()
    with pytest.raises(CommandError, match="differ in form") as differs:
        call_command("conform", compare=path, stdout=out)
    assert differs.value.returncode == 1
    assert "status: live 404, emulator 400" in out.getvalue()


def test_a_run_that_lost_the_network_goes_on_where_it_stopped(provider: Provider, tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    provider.handler = lambda request: httpx2.ConnectError("no way") if len(provider.requests) > 20 else None
    with pytest.raises(CommandError, match="--resume") as stopped:
        run(live=True, yes=True, report=path)
    assert stopped.value.returncode == 1
    first = ConformanceReport.read(path)
    provider.handler = lambda request: None
    printed = run(live=True, yes=True, resume=path)
    whole = ConformanceReport.read(path)
    assert "earlier" in printed and len(whole.probes) == len(PROBES) > len(first.probes)
    assert whole.run == first.run and whole.usd > first.usd and not whole.stopped_by
    assert not provider.emulator.caches.all()


def test_a_report_is_resumed_only_where_and_about_what_it_was_made(
    provider: Provider, tmp_path: Path
) -> None:
    path = tmp_path / "live.json"
    run(live=True, yes=True, report=path, skip=[probe.name for probe in PROBES if probe.name != "limits"])
    with pytest.raises(CommandError, match=r"made at gemini\.invalid"):
        run(live=True, yes=True, resume=path, base_url="http://elsewhere.invalid")
    with pytest.raises(CommandError, match="is about gemini-3-flash"):
        run(live=True, yes=True, resume=path, model="gemini-2.5-flash")


def test_a_refused_key_ends_it_and_says_how_to_go_on(settings: Any, provider: Provider) -> None:
    settings.GEMINI_API_KEY = "invalid-key-of-forty-characters-for-this"
    with pytest.raises(CommandError, match=r"(?s)GEMINI_API_KEY.*--resume"):
        run(live=True, yes=True)
    assert not provider.streams


def test_ctrl_c_leaves_no_cache_and_a_report_to_go_on_with(provider: Provider, tmp_path: Path) -> None:
    path = tmp_path / "live.json"

    def interrupt(request: httpx2.Request) -> None:
        if b"systemInstruction" in request.content:
            provider.handler = lambda request: None
            raise KeyboardInterrupt

    provider.handler = interrupt
    with pytest.raises(CommandError, match="--resume") as stopped:
        run(live=True, yes=True, report=path)
    assert stopped.value.returncode == 130
    assert verdicts(ConformanceReport.read(path))["cache_hit"] == "same"


def test_saving_puts_the_findings_into_the_table(provider: Provider) -> None:
    ModelFacts.objects.create(model=MODEL, levels=["LOW"], note="Mine")
    with pytest.raises(CommandError) as differs:
        run(live=True, yes=True, save=True)
    assert differs.value.returncode == 2
    row = ModelFacts.objects.get(model=MODEL)
    assert row.checked_at and row.note == "Mine"
    assert facts_of(MODEL).levels == ("MINIMAL", "LOW", "MEDIUM", "HIGH")
