"""The table of forms as recordings give it: for each choice what most of the nearest models' answers say.

What no recording of a line of models answers is taken from what is nearest to it: whether an unseen
kind of answer is signed, from all answers of the line; whether parallel calls are split, from whether the
stream goes on after a call. Nothing passes from one line to another but the day on which a key began.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import date
from statistics import median_low
from typing import Any

from sessions_app.conform.recordings.observations import (
    CHUNK,
    DATED,
    ID,
    OPENING,
    TIER,
    TURN_TOKEN,
    FormObservation,
)
from sessions_app.emulator.answer_form import NEWEST, AnswerForm, FormTable, Signable
from sessions_app.emulator.catalogue import MODELS

_OTHERS = frozenset({"signed", OPENING, CHUNK, *DATED, "restores_past_turns"})
"""Fields that are no choice, or that a single answer says nothing of."""
_CHOICES = tuple(field.name for field in fields(AnswerForm) if field.name not in _OTHERS)
_SPLITS, _CLOSES = "splits_calls", "closes_empty"
_A_WORD = 10
"""Characters of a first chunk that count as a word."""


def generation_of(version: str) -> float:
    found = re.match(r"gemini-(\d+(?:\.\d+)?)", version)
    return float(found[1]) if found else 0.0


def line_of(version: str) -> str:
    """Models that learn of one another: all since Gemini 3, and before it those of one generation."""
    generation = generation_of(version)
    return "3 and later" if generation >= 3 else f"{generation:.1f}"


def size_of(version: str) -> str:
    return next((size for size in ("lite", "flash", "pro") if size in version), "")


@dataclass(frozen=True, slots=True)
class Derivation:
    """What is known of each question, by the model that was observed."""

    known: dict[str, dict[str, list[FormObservation]]]

    @classmethod
    def of(cls, observations: Iterable[FormObservation]) -> "Derivation":
        known: dict[str, dict[str, list[FormObservation]]] = defaultdict(lambda: defaultdict(list))
        for one in observations:
            known[one.question][one.version].append(one)
        return cls(known)

    def nearest(self, question: str, version: str) -> Sequence[FormObservation]:
        """The observations of the model itself, else of the nearest of its line; none of another line."""
        answers = self.known.get(question, {})
        line = [other for other in answers if line_of(other) == line_of(version)]
        best = min(line, key=lambda other: _distance(version, other), default=None)
        return answers[best] if best else ()

    def choice(self, question: str, version: str) -> bool:
        """What most of the nearest say, else what the line does otherwise."""
        found = self.nearest(question, version)
        if not found and question in set(Signable):
            found = [one for kind in Signable for one in self._of_line(kind, version)]
        if not found and question == _SPLITS:
            found = self.nearest(_CLOSES, version)
        counts = Counter(bool(one.value) for one in found)
        return counts[True] > counts[False]

    def _of_line(self, question: str, version: str) -> list[FormObservation]:
        answers = self.known.get(question, {})
        return [one for other in answers if line_of(other) == line_of(version) for one in answers[other]]

    def first_day(self, question: str) -> date | None:
        """The first day it was seen at all."""
        everything = (one for found in self.known.get(question, {}).values() for one in found)
        return min((one.day for one in everything if one.value and one.day), default=None)

    def form(self, version: str) -> AnswerForm:
        openings = [int(one.value) for one in self.nearest(OPENING, version)]
        chunks = [int(one.value) for one in self.nearest(CHUNK, version)]
        opening = min(openings, default=0)
        has_ids = any(one.value for one in self._of_line(ID, version))
        own_token = any(one.value for one in self.nearest(TURN_TOKEN, version) if one.version == version)
        choices: dict[str, Any] = {name: self.choice(name, version) for name in _CHOICES}
        return AnswerForm(
            **choices,
            signed=frozenset(kind for kind in Signable if self.choice(kind, version)),
            opening=opening if opening > _A_WORD else 0,
            chunk=median_low(chunks) if chunks else AnswerForm().chunk,
            call_ids_from=self.first_day(ID) if has_ids else None,
            turn_token_from=self.first_day(TURN_TOKEN) if own_token else None,
        )


def derive(observations: Iterable[FormObservation]) -> FormTable:
    """The table for the models that the emulator serves."""
    found = Derivation.of(observations)
    versions = {model.version for model in MODELS.values()}
    forms = {version: found.form(version) for version in sorted(versions)}
    return FormTable(forms, tier_from=found.first_day(TIER) or date.max)


def _distance(version: str, other: str) -> tuple[bool, bool, float]:
    """The model itself, then those of its size, then those of a near generation."""
    apart = abs(generation_of(version) - generation_of(other))
    return version != other, size_of(version) != size_of(other), apart


def expected(question: str, version: str, day: date | None, table: FormTable = NEWEST) -> bool | None:
    """What `table` says to a question with the answers yes and no; None where it says nothing."""
    if line_of(version) not in {line_of(model.version) for model in MODELS.values()}:
        return None
    form = table.of(version)
    if question in set(Signable):
        return question in form.signed
    if question in DATED:
        since = table.tier_from if question == TIER else getattr(form, question)
        return since is not None and since <= day if day else None
    return bool(getattr(form, question)) if question in _CHOICES else None
