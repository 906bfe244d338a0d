"""What the list of models says, from facts, prices and lifecycles."""

from collections.abc import Iterator
from datetime import date

import pytest

from sessions_app import catalogue
from sessions_app.chat.model_offers import ChosenModel, ModelOffer, model_offers
from sessions_app.context.model_lookup import clear_caches
from sessions_app.models import ModelFacts, ModelLifecycle
from tests.prices import make_price

TODAY = date(2026, 11, 23)


@pytest.fixture(autouse=True)
def today(db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(catalogue, "today", lambda: TODAY)
    ModelLifecycle.objects.all().delete()
    clear_caches()
    yield
    clear_caches()


def offer(name: str, chosen: str = "gemini-3.8-flash", level: str = "") -> ModelOffer:
    return next(one for one in model_offers(ChosenModel(chosen, level)) if one.name == name)


def end(model: str, day: date, served_by: str = "") -> None:
    ModelLifecycle.objects.create(
        model=model, valid_from=day, served_by=served_by, is_retired=True, source="a page"
    )


def test_an_offer_has_the_title_and_the_price_of_the_day() -> None:
    make_price("gemini-3.8-flash", input="0.75", output="3.75")
    make_price("gemini-3.8-flash", date(2026, 11, 24), input="9", output="9")
    found = offer("gemini-3.8-flash")
    assert (found.title, found.price) == ("Gemini 3.8 Flash", "$0.75 in · $3.75 out")


def test_the_price_of_a_name_is_that_of_the_model_that_answers() -> None:
    make_price("gemini-3.6-flash", input="7", output="8")
    ModelLifecycle.objects.create(
        model="gemini-flash-latest", valid_from=TODAY, served_by="gemini-3.6-flash", source="a page"
    )
    found = offer("gemini-flash-latest")
    assert (found.price, found.future) == ("$7.00 in · $8.00 out", "Gemini 3.6 Flash answers")


def test_the_levels_are_those_of_the_model_and_the_chosen_one_is_marked() -> None:
    found = offer("gemini-3.8-flash", level="LOW")
    assert [level.value for level in found.levels] == ["", "LOW", "MEDIUM", "HIGH"]
    assert [level.value for level in found.levels if level.is_chosen] == ["LOW"]
    assert offer("gemini-2.5-flash").levels == ()


def test_a_level_that_the_model_does_not_take_is_not_named() -> None:
    assert ChosenModel("gemini-3.8-flash", "MINIMAL").level_label == ""
    assert ChosenModel("gemini-3.6-flash", "MINIMAL").level_label == "Minimal"


def test_an_end_is_told_however_far_away_it_is() -> None:
    end("gemini-2.5-pro", date(2027, 12, 1), "gemini-3.8-flash")
    end("gemini-3.6-flash", date(2026, 11, 24))
    assert offer("gemini-2.5-pro").future == "Ends on 1 December 2027, then Gemini 3.8 Flash answers"
    assert offer("gemini-3.6-flash").future == "Ends on 24 November 2026"
    assert offer("gemini-3.8-flash").future == ""


def test_a_model_that_has_ended_is_offered_only_to_whoever_has_it() -> None:
    end("gemini-2.5-pro", TODAY, "gemini-3.8-flash")
    assert "gemini-2.5-pro" not in [one.name for one in model_offers(ChosenModel("gemini-3.8-flash"))]
    found = offer("gemini-2.5-pro", chosen="gemini-2.5-pro")
    assert found.is_over and found.future == "Ended on 23 November 2026, Gemini 3.8 Flash answers"


def test_a_chosen_model_that_nobody_knows_is_in_the_list() -> None:
    found = offer("gemini-9-argon", chosen="gemini-9-argon")
    assert (found.title, found.is_chosen, found.price) == ("gemini-9-argon", True, "")


def test_the_line_of_an_admin_wins_over_the_one_from_the_facts() -> None:
    assert offer("gemini-3.8-flash").use.endswith("you choose how hard it thinks")
    ModelFacts.objects.create(model="gemini-3", is_family=True, summary="For most things")
    ModelFacts.objects.create(model="gemini-3.8-flash", summary="Fast, for letters")
    assert offer("gemini-3.8-flash").use == "Fast, for letters"
    assert offer("gemini-3.6-flash").use == "For most things"
