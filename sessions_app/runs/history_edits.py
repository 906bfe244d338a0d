"""Edits of a session's history, each on a new branch: switch, correct, fork, delete, summarise, repair.

Later turns are copied below the change with their contents and signatures (design §6).
"""

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import takewhile
from uuid import UUID

from django.db import transaction

from sessions_app.context.personal_limits import room_for_session
from sessions_app.errors import RunError, SessionBusy
from sessions_app.models import Run, Session, Turn
from sessions_app.models.branches import (
    copy_branch_below,
    copy_of,
    copy_session,
    filled_content,
    newest_leaf,
    substitute,
)
from sessions_app.models.turn_statements import BRANCH
from sessions_app.panels.row_transfer import copy_rows
from sessions_app.prompt.detach import USER_TEXTS
from sessions_app.prompt.repair import repair
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, compressed_history, model_text

# Made anew each time: an exception that is raised again keeps the frames of every time before.
BUSY = partial(SessionBusy, "This chat is answering.", hint="Wait for the answer or stop it, then try again.")
MESSAGE_GONE = partial(RunError, "This message is not there any more.", hint="Reload the page.")


@contextmanager
def locked_session(session_pk: int) -> Iterator[Session]:
    """The session, locked. Raises SessionBusy while a run is active."""
    with transaction.atomic():
        session = Session.objects.select_for_update(of=("self",)).get(pk=session_pk, deleted_at=None)
        if Run.objects.active_in(session.pk) is not None:
            raise BUSY()
        yield session


def switch_branch(session_pk: int, public: UUID) -> Session:
    """Selects the branch through this turn, at its newest leaf. Raises SessionBusy, RunError."""
    with locked_session(session_pk) as session:
        session.switch_branch(newest_leaf(turn_of(session, public)))
    return session


def correct_answer(session_pk: int, public: UUID, text: str) -> Session:
    """Adds a person's version as a sibling of a model's answer. Raises SessionBusy, RunError.

    It has no signatures: they belong to the original text.
    """
    with locked_session(session_pk) as session:
        answer = turn_of(session, public)
        if answer.kind != TurnKind.MODEL_RESPONSE:
            raise RunError("Only an answer can be corrected.", hint="Edit the message instead.")
        value = model_text(str(uuid.uuid4()), text)
        edited = Turn.append(session, value, parent=answer.parent, run=answer.run)
        Turn.objects.filter(pk=edited.pk).update(edited=True, origin=answer)
        session.switch_branch(edited)
    return session


def fork_session(session_pk: int, public: UUID) -> Session:
    """A new session with the branch up to this turn. Raises OverLimit, RunError."""
    session = Session.objects.get(pk=session_pk, deleted_at=None)
    with room_for_session(session.owner_id):
        last = turn_of(session, public)
        if last.kind == TurnKind.FUNCTION_CALLING:
            raise RunError("A call is still without its result here.", hint="Fork after the answer.")
        copy = copy_session(session, last)
        copy_rows(session, copy)
        return copy


def turn_of(session: Session, public: UUID) -> Turn:
    """Raises RunError."""
    turn = Turn.objects.filter(session=session, public=public).select_related("parent", "run").first()
    if turn is None:
        raise MESSAGE_GONE()
    return turn


SUMMARY_LIMIT = 100_000
"""Characters of a summary."""

SUMMARY_EMPTY = partial(
    RunError, "A summary cannot be empty.", hint="Write something, or delete the turn instead."
)
SUMMARY_TOO_LONG = partial(
    RunError, "This summary is too long.", hint=f"Keep it below {SUMMARY_LIMIT:,} characters."
)
NOTHING_TO_SHORTEN = partial(RunError, "This message has no answer to shorten.", hint="Reload the page.")
SPLITS_EXCHANGE = partial(
    RunError, "A summary stands for whole questions with their answers.", hint="Reload the page."
)
NOTHING_TO_REPAIR = partial(RunError, "This history needs no repair.", hint="Ask again as it is.")


def delete_turns(session_pk: int, publics: Collection[UUID]) -> Session:
    """Removes turns from the branch in view, calls with their responses. Raises SessionBusy, RunError."""
    with locked_session(session_pk) as session:
        branch = branch_of(session)
        chosen = {index for index, turn in enumerate(branch) if turn.public in publics}
        if not chosen:
            raise MESSAGE_GONE()
        removed = _with_whole_rounds(branch, chosen)
        first = min(removed)
        later = [turn for index, turn in enumerate(branch) if index > first and index not in removed]
        copy_branch_below(session, branch[first - 1] if first else None, [copy_of(turn) for turn in later])
    return session


def shorten(session_pk: int, task: UUID, text: str) -> Session:
    """Replaces all turns that answer this message by a summary. Raises SessionBusy, RunError."""
    with locked_session(session_pk) as session:
        branch = branch_of(session)
        start = _index_of(branch, task) + 1
        end = start + len(turns_answering(branch, task))
        if start == end:
            raise NOTHING_TO_SHORTEN()
        last = branch[end - 1]
        summary = substitute(
            session,
            model_text("", _checked_summary(text)),
            summary=True,
            covers=_covered(branch[start:end]),
            origin_id=last.origin_id or last.pk,
            run_id=last.run_id,
        )
        copy_branch_below(session, branch[start - 1], [summary, *map(copy_of, branch[end:])])
    return session


def compress(session_pk: int, first: UUID, last: UUID, text: str) -> Session:
    """Replaces the turns from `first` to `last` by one summary. Raises SessionBusy, RunError.

    The range starts with a message and ends before one, so that no tool round is split.
    """
    with locked_session(session_pk) as session:
        branch = branch_of(session)
        start, end = _index_of(branch, first), _index_of(branch, last) + 1
        splits_round = end < len(branch) and not _is_message(branch[end])
        if start >= end or splits_round or not _is_message(branch[start]):
            raise SPLITS_EXCHANGE()
        covers = _covered(branch[start:end])
        summary = substitute(session, compressed_history("", _checked_summary(text)), covers=covers)
        copy_branch_below(
            session, branch[start - 1] if start else None, [summary, *map(copy_of, branch[end:])]
        )
    return session


def repair_history(session_pk: int) -> Session:
    """Stores the repaired branch in view as a new branch. Raises SessionBusy, RunError."""
    with locked_session(session_pk) as session:
        branch = Turn.objects.branch(session.head_id)
        values = [turn.value for turn in branch]
        repaired, repairs = repair(values)
        if not repairs:
            raise NOTHING_TO_REPAIR()
        pairs = zip(values, repaired, strict=False)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        rows = {str(turn.public): turn for turn in branch}
        copies = _repaired_turns(session, repaired[kept:], branch[:kept], rows)
        copy_branch_below(session, branch[kept - 1] if kept else None, copies)
    return session


def turns_answering(branch: Sequence[Turn], task: UUID) -> list[Turn]:
    """The turns between a message and the next one. Raises RunError when it is not in the branch."""
    start = _index_of(branch, task) + 1
    return list(takewhile(lambda turn: not _is_message(turn), branch[start:]))


def turns_before(branch: Sequence[Turn], task: UUID) -> list[Turn]:
    """The turns before a message. Raises RunError when it is not in the branch."""
    return list(branch[: _index_of(branch, task)])


def branch_of(session: Session) -> list[Turn]:
    """The branch in view, oldest first, without contents: one query."""
    return list(Turn.objects.raw(BRANCH, [session.head_id, 0])) if session.head_id else []


def _repaired_turns(
    session: Session, values: Sequence[TurnValue], above: Sequence[Turn], rows: Mapping[str, Turn]
) -> list[Turn]:
    """Unsaved turns for the values; an inserted one belongs to the run of the turn before it."""
    run_id = above[-1].run_id if above else None
    copies: list[Turn] = []
    for value in values:
        row = rows.get(value.key)
        if row is None:
            copies.append(substitute(session, value, run_id=run_id))
            continue
        copy = copy_of(row)
        copies.append(copy if row.wire == value.wire else filled_content(session, copy, value))
        run_id = row.run_id
    return copies


def _with_whole_rounds(branch: Sequence[Turn], indices: set[int]) -> set[int]:
    """The indices, with the other half of each tool round."""
    after = {index + 1 for index in indices if branch[index].kind == TurnKind.FUNCTION_CALLING}
    ahead = {index - 1 for index in indices if branch[index].kind == TurnKind.TOOL_RESPONSE}
    return {index for index in indices | after | ahead if 0 <= index < len(branch)}


def _covered(turns: Sequence[Turn]) -> int:
    """Number of original turns; a summary counts as all that it covers."""
    return sum(turn.covers or 1 for turn in turns)


def _index_of(branch: Sequence[Turn], public: UUID) -> int:
    found = next((index for index, turn in enumerate(branch) if turn.public == public), None)
    if found is None:
        raise MESSAGE_GONE()
    return found


def _is_message(turn: Turn) -> bool:
    return turn.kind in USER_TEXTS


def _checked_summary(text: str) -> str:
    if not text.strip():
        raise SUMMARY_EMPTY()
    if len(text) > SUMMARY_LIMIT:
        raise SUMMARY_TOO_LONG()
    return text.strip()
