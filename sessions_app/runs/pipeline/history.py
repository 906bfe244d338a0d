"""Stages 3 to 5: the history as it is now, what moves into the static layer, and whether it is valid."""

from django.db import transaction

from sessions_app.errors import HistoryInvalid
from sessions_app.models import HistoryChunk, Turn
from sessions_app.prompt import signatures
from sessions_app.prompt.detach import cuts
from sessions_app.prompt.history import Violation, violations
from sessions_app.prompt.repair import repair
from sessions_app.runs.filing import resolve
from sessions_app.runs.pipeline import strategy
from sessions_app.runs.pipeline.work import Report, Work


def snapshot(work: Work) -> Report:
    """The branch in view, oldest first; nothing that happens later changes this request."""
    work.turns, newest = Turn.objects.buffered(work.session.head_id)
    work.chunks = HistoryChunk.objects.chain(newest)
    return Report("the branch in view", _counted(work))


def detach(work: Work) -> Report:
    """Old turns freeze into chunks as far as the thresholds allow; they stay, whatever comes of the run."""
    strategy.choose(work)
    before = _counted(work)
    places = cuts(work.turns, work.thresholds)
    if not places:
        return Report(before, before, "nothing")
    known = len(work.chunks)
    _freeze(work, places)
    work.turns = work.turns[places[-1] :]
    made = work.chunks[known:]
    details = tuple(f"Chunk {chunk.key}: about {chunk.tokens:,} tokens." for chunk in made)
    return Report(before, _counted(work), "ok", details)


def validate(work: Work) -> Report:
    """Mends a broken history, or refuses it (`strict`), and dresses the turns for the route.

    A signature that another route made is never sent. Raises HistoryInvalid, FilesAway.
    """
    came_in = f"{len(work.turns)} turns"
    broken = violations(work.turns)
    if broken and work.options.history_policy == "strict":
        raise _refusal(broken)
    work.turns, repairs = repair(work.turns) if broken else (work.turns, ())
    work.turns = resolve(work.session, work.turns, work.door.route)
    required = work.capabilities.signatures_required
    work.turns, dressing = signatures.dress(work.turns, route=work.route, required=required)
    work.notes += (*repairs, *dressing)
    if not (repairs or dressing):
        return Report(came_in, "valid")
    return Report(came_in, f"{len(work.turns)} turns", "repaired", tuple(note.reason for note in repairs))


@transaction.atomic
def _freeze(work: Work, places: tuple[int, ...]) -> None:
    parent = int(work.chunks[-1].key) if work.chunks else None
    start = 0
    for end in places:
        turns = work.turns[start:end]
        parent = HistoryChunk.objects.freeze(work.session, parent, turns, work.cache_policy).pk
        start = end
    work.chunks = HistoryChunk.objects.chain(parent)


def _refusal(broken: tuple[Violation, ...]) -> HistoryInvalid:
    rules = "a rule" if len(broken) == 1 else f"{len(broken)} rules"
    words = " ".join(violation.words for violation in broken)
    remedy = "Repair the history, or let this session repair it by itself (settings)."
    return HistoryInvalid(f"Nothing was sent: the history breaks {rules}.", hint=f"{words} {remedy}")


def _counted(work: Work) -> str:
    return f"{len(work.chunks)} history chunks, {len(work.turns)} turns"
