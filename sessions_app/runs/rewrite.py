"""What a person takes out of a conversation or puts shorter: always on a branch of its own.

The later turns are copied below the change with the contents they have; what they were signed with
goes back as before. What was deleted, shortened or compressed takes its signatures along (design §6).
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from uuid import UUID

from sessions_app.errors import RunError
from sessions_app.models import Session, Turn
from sessions_app.models.regrowth import copy_of, fill, regrow, stand_in
from sessions_app.models.turn import BRANCH
from sessions_app.prompt.detach import USER_TEXTS
from sessions_app.prompt.repair import repair
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, compressed_history, model_text
from sessions_app.runs.branches import GONE, idle

LONGEST = 100_000
"""Characters of a summary."""

EMPTY = RunError("A summary cannot be empty.", hint="Write something, or delete the turn instead.")
TOO_LONG = RunError("This summary is too long.", hint=f"Keep it below {LONGEST:,} characters.")
UNANSWERED = RunError("This message has no answer to shorten.", hint="Reload the page.")
PARTED = RunError("A summary stands for whole questions with their answers.", hint="Reload the page.")
SOUND = RunError("This history needs no repair.", hint="Retry asks again.")


def delete_turns(session_pk: int, publics: Collection[UUID]) -> Session:
    """Takes turns out of the branch in view; calls and their results go together.

    Raises SessionBusy, RunError.
    """
    with idle(session_pk) as session:
        branch = branch_of(session)
        named = {place for place, turn in enumerate(branch) if turn.public in publics}
        if not named:
            raise GONE
        doomed = _with_partners(branch, named)
        first = min(doomed)
        later = [turn for place, turn in enumerate(branch) if place > first and place not in doomed]
        regrow(session, branch[first - 1] if first else None, [copy_of(turn) for turn in later])
    return session


def shorten(session_pk: int, task: UUID, text: str) -> Session:
    """Puts a short form in the place of all that answered this message. Raises SessionBusy, RunError."""
    with idle(session_pk) as session:
        branch = branch_of(session)
        start = _place(branch, task) + 1
        end = start + len(answer_to(branch, task))
        if start == end:
            raise UNANSWERED
        last = branch[end - 1]
        short = stand_in(
            session,
            model_text("", _checked(text)),
            summary=True,
            covers=_covered(branch[start:end]),
            origin_id=last.origin_id or last.pk,
            run_id=last.run_id,
        )
        regrow(session, branch[start - 1], [short, *map(copy_of, branch[end:])])
    return session


def compress(session_pk: int, first: UUID, last: UUID, text: str) -> Session:
    """Puts one summary in the place of the turns from `first` to `last`. Raises SessionBusy, RunError.

    The range begins with a message and ends before one, so no round of tools is parted.
    """
    with idle(session_pk) as session:
        branch = branch_of(session)
        start, end = _place(branch, first), _place(branch, last) + 1
        is_parted = end < len(branch) and not _is_message(branch[end])
        if start >= end or is_parted or not _is_message(branch[start]):
            raise PARTED
        covers = _covered(branch[start:end])
        summary = stand_in(session, compressed_history("", _checked(text)), covers=covers)
        regrow(session, branch[start - 1] if start else None, [summary, *map(copy_of, branch[end:])])
    return session


def mend(session_pk: int) -> Session:
    """Writes the repaired history of the branch in view as a branch. Raises SessionBusy, RunError."""
    with idle(session_pk) as session:
        branch = Turn.objects.branch(session.head_id)
        values = [turn.value for turn in branch]
        mended, repairs = repair(values)
        if not repairs:
            raise SOUND
        pairs = zip(values, mended, strict=False)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        rows = {str(turn.public): turn for turn in branch}
        regrown = _mended(session, mended[kept:], branch[:kept], rows)
        regrow(session, branch[kept - 1] if kept else None, regrown)
    return session


def answer_to(branch: Sequence[Turn], task: UUID) -> list[Turn]:
    """What follows a message up to the next one. Raises RunError when the branch does not hold it."""
    start = _place(branch, task) + 1
    return list(takewhile(lambda turn: not _is_message(turn), branch[start:]))


def before(branch: Sequence[Turn], task: UUID) -> list[Turn]:
    """All that stands before a message. Raises RunError when the branch does not hold it."""
    return list(branch[: _place(branch, task)])


def branch_of(session: Session) -> list[Turn]:
    """The branch in view, oldest first, without contents: one query."""
    return list(Turn.objects.raw(BRANCH, [session.head_id, 0])) if session.head_id else []


def _mended(
    session: Session, values: Sequence[TurnValue], above: Sequence[Turn], rows: Mapping[str, Turn]
) -> list[Turn]:
    """Unsaved turns for the values; what stands in belongs to the run of the turn before it."""
    run_id = above[-1].run_id if above else None
    told: list[Turn] = []
    for value in values:
        row = rows.get(value.key)
        if row is None:
            told.append(stand_in(session, value, run_id=run_id))
            continue
        copy = copy_of(row)
        told.append(copy if row.wire == value.wire else fill(session, copy, value))
        run_id = row.run_id
    return told


def _with_partners(branch: Sequence[Turn], places: set[int]) -> set[int]:
    """The places, and for half a round of tools its other half."""
    after = {place + 1 for place in places if branch[place].kind == TurnKind.FUNCTION_CALLING}
    ahead = {place - 1 for place in places if branch[place].kind == TurnKind.TOOL_RESPONSE}
    return {place for place in places | after | ahead if 0 <= place < len(branch)}


def _covered(turns: Sequence[Turn]) -> int:
    """Turns that a person or a model once made; what stands for several counts as all of them."""
    return sum(turn.covers or 1 for turn in turns)


def _place(branch: Sequence[Turn], public: UUID) -> int:
    found = next((place for place, turn in enumerate(branch) if turn.public == public), None)
    if found is None:
        raise GONE
    return found


def _is_message(turn: Turn) -> bool:
    return turn.kind in USER_TEXTS


def _checked(text: str) -> str:
    if not text.strip():
        raise EMPTY
    if len(text) > LONGEST:
        raise TOO_LONG
    return text.strip()
