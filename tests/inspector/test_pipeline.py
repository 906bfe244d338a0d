from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from sessions_app.inspector.stages import ShownRemark, grouped, stages_of
from sessions_app.inspector.tabs.pipeline_tab import ShownPipeline
from sessions_app.models import Exchange, Run, Session
from sessions_app.prompt.remarks import Remark
from sessions_app.prompt.stage_records import StageStatus
from sessions_app.wording import remarks
from sessions_app.wording.stages import MEANINGS
from tests.factories import answered, make_history, make_run
from tests.inspector.reading import read, read_list

STAGES = [
    {"name": "build_trigger", "status": "ok", "came_in": "user_text", "came_out": "a task", "ms": 1.0},
    {"name": "render_templates", "status": "fallback", "details": ["role Clerk: a brace is open"], "ms": 3.0},
    {"name": "a_new_stage", "status": "odd", "unknown": True},
]
BLOCKED = [
    {"name": "build_trigger", "status": "ok", "came_in": "user_text", "came_out": "a task", "ms": 0.1},
    {"name": "check", "status": "blocked", "came_out": "Two turns are one.", "details": ["Repair it."]},
]


@pytest.fixture
def refused(session: Session) -> Run:
    run = make_run(session, "Is <b>it</b> late?")
    error = {"message": "Nothing was sent.", "hint": "Choose repair."}
    Run.objects.filter(pk=run.pk).update(stages=BLOCKED, status=Run.Status.FAILED, error=error)
    return run


def address(run: Run) -> str:
    return reverse("refused-run", args=[run.session.public, run.public])


def test_a_stage_takes_its_share_of_our_time_and_is_always_seen() -> None:
    found = stages_of(STAGES, 0)
    assert [(stage.start, stage.width) for stage in found] == [(0, 25), (25, 75), (99.5, 0.5)]


def test_the_call_takes_no_share_of_our_time(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    stages = [{"name": "check", "ms": 2}, {"name": "send", "ms": 900}, {"name": "account", "ms": 2}]
    Exchange.objects.filter(pk=exchange.pk).update(stages=stages)
    assert [(stage.start, stage.width) for stage in stages_of(stages, 0) if not stage.is_call] == [
        (0, 50),
        (50, 50),
    ]
    assert read(client, exchange, "pipeline").count('class="span"') == 2


def test_every_stage_has_words_a_mark_and_its_details(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    Exchange.objects.filter(pk=exchange.pk).update(stages=STAGES)
    page = read(client, exchange, "pipeline")
    assert "Render the templates" in page and "role Clerk: a brace is open" in page
    assert "fell back to the original text" in page
    assert "A new stage" in page


def test_a_request_that_failed_is_not_called_done(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    send = {"name": "send", "status": "ok", "figures": {"case": "failed", "error": "Overloaded."}}
    account = {"name": "account", "status": "ok", "figures": {"case": "uncounted"}}
    Exchange.objects.filter(pk=exchange.pk).update(stages=[send, account])
    page = read(client, exchange, "pipeline")
    assert [(stage.status, stage.tone) for stage in stages_of([send, account], 0)] == [
        ("failed", "bad"),
        ("ok", "good"),
    ]
    assert "Overloaded." in page and MEANINGS[StageStatus.FAILED] in page and "nothing counted" in page


def test_only_the_stages_before_the_call_are_part_of_the_building() -> None:
    stages = stages_of(
        [{"name": "check", "ms": 2}, {"name": "send", "ms": 900}, {"name": "account", "ms": 9}], 0
    )
    shown = ShownPipeline(stages, (), built=5.0)
    assert (shown.ms, shown.rest) == (2.0, 3.0)


def test_an_exchange_without_records_says_so(client: Client, session: Session) -> None:
    assert "has no stage records" in read(client, answered(session, "Hello", "Hi"), "pipeline")


def test_repairs_stand_below_the_stages(client: Client, session: Session) -> None:
    exchange = answered(session, "Hello", "Hi")
    turn = str(exchange.turns.get().public)
    note = {"turn": turn, "part": 0, "action": "dummy", "reason": "The signature was lost."}
    Exchange.objects.filter(pk=exchange.pk).update(notes=[note], stages=STAGES)
    assert "Turn 2, part 1: The signature was lost." in read(client, exchange, "pipeline")


def test_remarks_that_say_the_same_of_several_turns_stand_together() -> None:
    """Of what is of no turn nobody knows whether it is the same."""
    same, other = Remark(code="a", text="Lost.", turn="t"), Remark(code="a", text="Refused.", turn="t")
    told = [(same, 4), (other, 4), (same, 0), (same, 2), (same, 0)]
    found = grouped(ShownRemark(*one) for one in told)
    assert [group.label for group in found] == ["a"] * 4
    assert [group.sentence for group in found] == [
        remarks.sentence_over(same, [2, 4]),
        remarks.sentence_at(other, 4),
        remarks.sentence_at(same),
        remarks.sentence_at(same),
    ]


OLD, NEW = {"turn": "", "part": 0}, {"refused": {"turn": 1, "part": 1}}


@pytest.mark.parametrize("remark", [OLD, NEW], ids=["of an earlier version", "of this one"])
def test_a_refusal_names_its_turn_by_its_number(
    client: Client, session: Session, remark: dict[str, object]
) -> None:
    run = make_run(session, "Go on")
    assert run.trigger is not None
    key = str(run.trigger.public)
    code = "unsigned_first_call"
    stored = remark | {"turn": key} if remark is OLD else remark
    figures = {"turn": key, "part": 0} if remark is OLD else NEW["refused"]
    stages = [{"name": "check", "status": "blocked", "remarks": [{"code": code, **stored}]}]
    error = {"reason": code, "figures": figures}
    Run.objects.filter(pk=run.pk).update(stages=stages, status=Run.Status.FAILED, error=error)
    said = "The first call of turn 1 (part 1) lacks its thought."
    for page in (
        client.get(address(run)).content.decode(),
        client.get(session.get_absolute_url()).content.decode(),
    ):
        assert said in page and f"turn {key}" not in page
    (stage,) = stages_of(stages, session.pk)
    assert stage.came_out.startswith(said)


def test_a_refused_run_has_a_page_with_its_stages(client: Client, refused: Run) -> None:
    page = client.get(address(refused)).content.decode()
    assert "Nothing was sent." in page and "Choose repair." in page
    assert "Two turns are one." in page and "Is &lt;b&gt;it&lt;/b&gt; late?" in page


def test_the_list_leads_to_it(client: Client, session: Session, refused: Run) -> None:
    page = read_list(client, session)
    assert address(refused) in page and "Refused, nothing was sent." in page
    assert ">Is &lt;b&gt;it&lt;/b&gt; late?</a>" in page
    assert address(refused) not in read_list(client, session, end="error")


def test_a_refusal_stands_where_it_happened(client: Client, session: Session, refused: Run) -> None:
    Run.objects.filter(pk=refused.pk).update(ended_at=refused.started_at)
    later = answered(session, "Hello", "Hi")
    page = read_list(client, session)
    assert page.index(later.get_absolute_url()) < page.index(address(refused))


def test_a_refusal_is_on_one_page_of_a_long_list(
    client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.inspector.exchange_list.PAGE_SIZE", 2)
    make_history(session, 2)
    run = make_run(session, "Refused")
    run.end(Run.Status.FAILED)
    Run.objects.filter(pk=run.pk).update(stages=BLOCKED)
    make_history(session, 2)
    found = [address(run) in read_list(client, session, page=page) for page in ("1", "2")]
    assert sorted(found) == [False, True]


def test_a_run_that_was_sent_has_no_page_of_refusal(client: Client, session: Session) -> None:
    run = answered(session, "Hello", "Hi").run
    assert client.get(address(run)).status_code == 404


def test_another_persons_refusal_does_not_exist(stranger: Client, client: Client, refused: Run) -> None:
    assert stranger.get(address(refused)).status_code == 404
    unknown = reverse("refused-run", args=[refused.session.public, uuid4()])
    assert client.get(unknown).status_code == 404
