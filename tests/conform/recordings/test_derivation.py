"""What recordings say becomes the table of forms; nothing is known of them but what stands in them."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.conform.recordings.derivation import derive, expected
from sessions_app.conform.recordings.leave_one_out import leave_one_out, overall_rate
from sessions_app.conform.recordings.observations import observe
from sessions_app.conform.recordings.recorded import Recording
from sessions_app.conform.recordings.rule_verdicts import compare_all
from sessions_app.emulator.answer_form import AnswerForm, FormTable, Signable
from tests.conform.recordings.makers import SIGNED, calls, chunk, exchange, recording, text

PRO, FLASH, NEW = "gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-flash-preview"


def table(*recordings: Recording) -> FormTable:
    return derive(observe(recordings))


def test_whether_calls_share_a_chunk_is_the_models_own() -> None:
    found = table(recording("a", calls(PRO, 1, 1)), recording("b", calls(FLASH, 2)))
    assert found.of(PRO).splits_calls and not found.of(FLASH).splits_calls


def test_a_model_without_recordings_answers_as_its_nearest() -> None:
    found = table(recording("a", calls(FLASH, 2), text(FLASH)), recording("b", text(NEW, signed=True)))
    assert not found.of(PRO).splits_calls
    assert Signable.TEXT in found.of("gemini-4-argon").signed
    assert Signable.TEXT not in found.of(PRO).signed


def test_most_recordings_win() -> None:
    found = table(recording("a", text(NEW, signed=True), text(NEW, signed=True), text(NEW)))
    assert Signable.TEXT in found.of(NEW).signed


def test_an_unseen_kind_is_signed_where_most_of_the_line_is() -> None:
    """No recording has a call of 2.5 without thoughts: most of what 2.5 answers is unsigned."""
    old = recording("a", calls(FLASH, 1), text(FLASH), text(FLASH))
    new = recording("b", calls(NEW, 1), text(NEW, signed=True))
    found = table(old, new)
    assert Signable.CALL_UNTHOUGHT not in found.of(FLASH).signed
    assert Signable.CALL_UNTHOUGHT in found.of(NEW).signed


def test_a_key_holds_from_the_first_day_it_was_seen() -> None:
    early, late = date(2026, 5, 5), date(2026, 6, 6)
    found = table(recording("a", calls(NEW, 1, day=late)), recording("b", calls(NEW, 1, day=early)))
    assert found.of(NEW).call_ids_from == early and found.of(FLASH).call_ids_from is None


def test_a_stream_that_goes_on_after_a_call_splits_calls() -> None:
    one = {"functionCall": {"name": "f", "args": {}}} | SIGNED
    alone = exchange(chunk(NEW, one), chunk(NEW, {"text": ""}, finish="STOP"))
    assert table(recording("a", alone)).of(NEW).splits_calls


FORMS = st.builds(
    AnswerForm,
    closes_empty=st.booleans(),
    splits_calls=st.booleans(),
    signed=st.frozensets(st.sampled_from(Signable)),
    call_ids_from=st.sampled_from([None, date(2026, 5, 5), date(2026, 8, 31)]),
    turn_token_from=st.sampled_from([None, date(2026, 5, 5), date(2026, 8, 31)]),
)


@given(FORMS, st.sampled_from(Signable), st.sampled_from([date(2026, 5, 4), date(2026, 5, 5), date.max]))
def test_a_table_is_expected_to_say_what_it_says(form: AnswerForm, kind: Signable, day: date) -> None:
    one = FormTable({"gemini-": form})
    assert expected(kind, NEW, day, one) is (kind in form.signed)
    assert expected("splits_calls", NEW, day, one) is form.splits_calls
    since = form.call_ids_from
    assert expected("call_ids_from", NEW, day, one) is (since is not None and since <= day)
    assert expected("call_ids_from", NEW, None, one) is None
    assert expected("splits_calls", "gemini-1.5-pro", day, one) is None


def test_a_source_is_judged_without_its_own_word() -> None:
    """Two sources agree, and the third, which signs nothing, is seen to differ."""
    same = [recording(f"{name}__text", text(NEW, signed=True, day=date(2026, 5, 1))) for name in "ab"]
    odd = recording("c__text", text(NEW, day=date(2026, 5, 1)))
    found = {one.source: one.comparison for one in leave_one_out([*same, odd])}
    assert found["c"].differing == {"c__text[0]"}
    assert compare_all([odd], table(odd)).rate >= found["c"].rate
    assert overall_rate([]) == 0
