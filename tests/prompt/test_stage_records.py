"""Stage records and remarks as rows keep them, of this version and of earlier ones."""

from decimal import Decimal

from sessions_app.prompt.remarks import REMARKS, Remark, RemarkCode
from sessions_app.prompt.stage_records import STAGES, BudgetFigures, StageName, StageRecord, StageStatus

EARLIER = {
    "name": "render_templates",
    "status": "fallback",
    "came_in": "2 texts",
    "came_out": "1 templates",
    "details": ["purpose was rendered", "", "role was sent as it was written"],
    "ms": 1.5,
}


def test_a_record_comes_back_as_it_was_stored() -> None:
    near = Remark(code=RemarkCode.BUDGET_NEAR, scope="today", percent=90)
    figures = BudgetFigures(case="limited", budgets=1, usd_left=Decimal("0.10"))
    record = StageRecord(
        name=StageName.CHECK_BUDGET, status=StageStatus.NOTICED, figures=figures, remarks=(near,), ms=0.5
    )
    stored = record.stored()
    assert stored["figures"] == {"case": "limited", "budgets": 1, "usd_left": "0.10"}
    assert stored["remarks"] == [
        {"code": "budget_near", "turn": "", "part": None, "scope": "today", "percent": 90}
    ]
    assert STAGES.validate_python([stored]) == (record,)


def test_a_record_of_an_earlier_version_keeps_its_status_and_its_sentences() -> None:
    (record,) = STAGES.validate_python([EARLIER])
    assert (record.name, record.status, record.ms, record.figures) == (
        "render_templates",
        "fallback",
        1.5,
        None,
    )
    assert (record.came_in, record.came_out) == ("2 texts", "1 templates")
    assert [(one.code, one.figures["text"]) for one in record.remarks] == [
        ("earlier_wording", "purpose was rendered"),
        ("earlier_wording", "role was sent as it was written"),
    ]


def test_repairs_and_findings_of_an_earlier_version_keep_their_place_and_their_sentence() -> None:
    repair = {"turn": "1", "part": 0, "action": "removed", "reason": "Another route made this signature."}
    finding = {"turn": "2", "part": None, "code": "unsigned_answer", "words": "It carries no signature."}
    first, second = REMARKS.validate_python([repair, finding])
    assert (first.turn, first.part, first.is_removal) == ("1", 0, True)
    assert first.figures == {"label": "removed", "text": "Another route made this signature."}
    assert (second.turn, second.is_removal, second.figures["label"]) == ("2", False, "unsigned_answer")
