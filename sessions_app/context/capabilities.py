"""What is true of each model: the code's table, and over it the rows of `ModelFacts`.

A process keeps the rows it has read, so that a request costs no query for them.
"""

from dataclasses import replace
from time import monotonic
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from sessions_app.gemini.capabilities import Capabilities, base_of, capabilities_of, known_models
from sessions_app.models import Exchange, ModelFacts, Session

TTL = 30.0
"""Seconds a process goes on with the rows it has read: an edit in another process is late by so much."""

_memo: dict[str, tuple[float, list[ModelFacts]]] = {}


def facts_of(model: str, served: str = "") -> Capabilities:
    """What holds for a request to `model`; `served` is the `modelVersion` of its newest answer.

    The model that answered decides: where the provider routes a name to another model, the facts and
    the family are that model's. An exact row stands above a family's, that above the code's table. No
    query, but for one every `TTL` seconds.
    """
    if not served or base_of(served) == base_of(model):
        facts = _overridden(capabilities_of(model))
        return replace(facts, family=base_of(served)) if served else facts
    facts = _overridden(capabilities_of(served))
    return replace(facts, model=model.rpartition("/")[2], family=base_of(served))


def with_served(sessions: QuerySet[Session], door: str) -> QuerySet[Session]:
    """Sessions that know, as `served`, the `modelVersion` of the newest answer this door gave for their
    model: no query of its own."""
    answers = Exchange.objects.filter(
        session=OuterRef("pk"), model=OuterRef("model"), route__startswith=f"{door}/"
    )
    newest = answers.exclude(served_model="").order_by("-number").values("served_model")[:1]
    name = "served"
    return sessions.annotate(**{name: Subquery(newest)})


def model_names() -> tuple[str, ...]:
    """Names to choose from: the code's, newest first, then those that only rows know."""
    known = known_models()
    return known + tuple(row.model for row in _rows() if not row.is_family and row.model not in known)


def doubts_about(model: str, served: str = "") -> tuple[str, ...]:
    """What a person should know before they trust the facts about a model, in words; mostly nothing."""
    asked, facts = facts_of(model), facts_of(model, served)
    words = []
    if not facts.known:
        caches = "with" if facts.has_explicit_caches else "without"
        words.append(
            f"“{base_of(served or model)}” is not in the capability table. It is taken for a model of its "
            f"generation, {caches} explicit caches; an admin can enter what is true of it."
        )
    if asked.family != facts.family:
        words.append(
            f"“{model}” was expected from “{asked.family}” and came from “{facts.family}”: the facts, "
            "signatures and caches of the latter hold."
        )
    return tuple(words)


def forget_facts() -> None:
    """The next question reads the rows again."""
    _memo.clear()


@receiver([post_save, post_delete], sender=ModelFacts)
def _changed(**_: Any) -> None:
    forget_facts()


def _rows() -> list[ModelFacts]:
    """Every row, families with short names first, exact rows last: the order in which they are laid on."""
    kept = _memo.get("rows")  # read once: another thread may forget it in between
    if kept is None or kept[0] < monotonic():
        rows = sorted(ModelFacts.objects.all(), key=lambda row: (not row.is_family, len(row.model)))
        kept = _memo["rows"] = (monotonic() + TTL, rows)
    return kept[1]


def _overridden(facts: Capabilities) -> Capabilities:
    for row in _rows():
        if _speaks_of(row, base_of(facts.model)):
            facts = _laid_over(row, facts)
    return facts


def _speaks_of(row: ModelFacts, base: str) -> bool:
    return base.startswith(row.model) if row.is_family else base == row.model


def _laid_over(row: ModelFacts, facts: Capabilities) -> Capabilities:
    family = base_of(row.served_by) or facts.family
    minimum = row.explicit_minimum_over(facts.explicit_minimum)
    return replace(facts, **row.told(), family=family, explicit_minimum=minimum, known=True)
