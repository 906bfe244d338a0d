"""The file of a run."""

import stat
from pathlib import Path

import pytest

from sessions_app.conform.report import ConformanceReport, file_name
from sessions_app.errors import ReportUnreadable
from tests.conform.helpers import bench, chosen, empty_report


async def test_it_is_read_as_it_was_written_and_is_its_owners(tmp_path: Path) -> None:
    made = bench()
    made.run.chosen = chosen("served_model", "signature_returned", "cache_life")
    report = await made.run.run()
    path = tmp_path / "new folder" / "report.json"
    report.write(path)
    assert ConformanceReport.read(path) == report
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["report.json"]


def test_a_write_that_fails_leaves_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    empty_report().write(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="disk full"):
        empty_report(budget="0.02").write(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "the file"),
        (b"{}", "model"),
        (b"[1]", "the file"),
        (empty_report().model_dump_json().replace('"format":1', '"format":2').encode(), "format"),
        (empty_report().model_dump_json().replace('"left":0', '"right":0').encode(), "right"),
    ],
)
def test_a_file_that_is_no_report_is_named(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(ReportUnreadable, match=named) as refused:
        ConformanceReport.read(path)
    assert "other.json" in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportUnreadable, match="nowhere"):
        ConformanceReport.read(tmp_path / "nowhere.json")


def test_its_name_says_when_where_and_about_what() -> None:
    report = empty_report()
    assert file_name(report) == f"{report.began:%Y%m%dT%H%M%S}-live-gemini-3-flash-preview.json"


async def test_each_exchange_is_kept_as_it_travelled() -> None:
    made = bench()
    made.run.chosen = chosen("served_model")
    (probe,) = (await made.run.run()).probes
    (exchange,) = probe.exchanges
    assert exchange.request.encode() == await made.provider.requests[0].aread()
    assert exchange.path.endswith(":streamGenerateContent?alt=sse") and exchange.end == "whole"
    assert exchange.response.startswith("data: {") and exchange.response.endswith("\r\n\r\n")
    assert exchange.headers == {"content-type": "text/event-stream"}
