"""`manage.py conform --recordings FOLDER`."""

import io
from datetime import date
from pathlib import Path

import orjson
import pytest
from django.core.management import CommandError, call_command

from sessions_app.conform.recordings.recorded import RecordedExchange
from sessions_app.conform.recordings.rules import RULES
from tests.conform.recordings.makers import calls, text
from tests.emulator.helpers import Wire

NEW, DAY = "gemini-3-flash-preview", date(2026, 5, 1)


def save(folder: Path, name: str, *exchanges: RecordedExchange) -> None:
    found = [one.model_dump(mode="json") for one in exchanges]
    (folder / f"{name}.json").write_bytes(orjson.dumps({"exchanges": found}))


def unary(made: RecordedExchange) -> RecordedExchange:
    """As a whole answer has it: the keys of the usage in the recorded order."""
    answer: Wire = made.response_chunks[0]
    usage = {key: answer["usageMetadata"][key] for key in ("promptTokenCount", "candidatesTokenCount")}
    usage |= {"totalTokenCount": answer["usageMetadata"]["totalTokenCount"], "promptTokensDetails": []}
    usage |= {"thoughtsTokenCount": answer["usageMetadata"]["thoughtsTokenCount"]}
    chunk = answer | {"usageMetadata": usage}
    return made.model_copy(update={"endpoint": "generateContent", "response_chunks": [chunk]})


def judge(folder: Path, **options: object) -> str:
    out = io.StringIO()
    call_command("conform", recordings=folder, stdout=out, **options)
    return out.getvalue()


@pytest.mark.parametrize("option", [{}, {"rules": True}, {"leave_one_out": True}])
def test_a_folder_without_recordings_has_no_rate(tmp_path: Path, option: dict[str, bool]) -> None:
    with pytest.raises(CommandError, match="holds no recordings"):
        judge(tmp_path, **option)
    with pytest.raises(CommandError, match="no folder"):
        judge(tmp_path / "missing", **option)


def test_equal_answers_pass_and_each_rule_has_its_rate(tmp_path: Path) -> None:
    save(tmp_path, "some__text", unary(text(NEW, signed=True, day=DAY)))
    printed = judge(tmp_path)
    assert all(rule in printed for rule in RULES) and "100.0 %" in printed
    assert "Equal by every rule: 1 of 1" in printed


def test_a_rate_below_the_limit_ends_with_an_error_and_shows_what_differs(tmp_path: Path) -> None:
    save(tmp_path, "some__text", unary(text(NEW, day=DAY)), unary(text(NEW, signed=True, day=DAY)))
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"50.0 %.*at least 95 %") as refused:
        call_command("conform", recordings=tmp_path, stdout=out)
    assert refused.value.returncode == 1
    assert "some__text[0]: signature positions" in out.getvalue()
    assert "1 of 2" in judge(tmp_path, at_least=50)


def test_what_is_left_out_is_counted_with_its_reason(tmp_path: Path) -> None:
    mock = unary(text(NEW, day=DAY)).model_copy(update={"tags": frozenset({"fidelity:vendor-mock"})})
    save(tmp_path, "some__text", mock, unary(text(NEW, signed=True, day=DAY)))
    assert "1 left out: a mock, written or edited by hand" in judge(tmp_path)


def test_the_rules_are_counted_by_models(tmp_path: Path) -> None:
    save(tmp_path, "some__calls", calls("gemini-2.5-pro", 1, 1, named=False))
    save(tmp_path, "some__text", unary(text(NEW, signed=True, day=DAY)))
    printed = judge(tmp_path, rules=True, at_least=0)
    assert (
        "| parallel calls of a stream come in chunks of their own | gemini-2.5-pro | 1 | 0 | 1 | 0 |"
        in printed
    )


def test_each_source_is_judged_by_the_others(tmp_path: Path) -> None:
    for source in "ab":
        save(tmp_path, f"{source}__text", unary(text(NEW, signed=True, day=DAY)))
    printed = judge(tmp_path, leave_one_out=True)
    assert "Each source by the table of the others: 100.0 %" in printed
