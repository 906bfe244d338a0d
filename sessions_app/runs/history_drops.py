"""Letting history chunks go, on a branch of its own, and putting them back."""

from collections.abc import Sequence
from functools import partial

from django.db import transaction
from django.utils import timezone

from sessions_app.errors import NotKept, RowGone
from sessions_app.models import HistoryChunk, HistoryDrop, Run, Session, Turn
from sessions_app.models.branches import copy_branch_below, copy_of
from sessions_app.runs.history_edits import branch_of, locked_session

# Made anew each time: an exception that is raised again keeps the frames of every time before.
ELSEWHERE = partial(
    NotKept,
    "Another version of the chat is in view. Choose the one without these messages first, then try again.",
)
OTHERS_FIRST = partial(NotKept, "Other messages went after these. Put those back first.")


@transaction.atomic
def carry_out_drops(run: Run) -> None:
    """Carries out what the model asked for while it answered. The run has ended, with its answer."""
    # The newest part first: what stands behind a part that goes is frozen anew, under other keys.
    waiting = list(HistoryDrop.objects.waiting().filter(session=run.session_id).order_by("-chunk"))
    if not waiting:
        return
    session = Session.objects.select_for_update(of=("self",)).get(pk=run.session_id)
    for drop in waiting:
        _carry_out(session, drop)
    run.session.head, run.session.head_version = session.head, session.head_version


def put_back(session_pk: int, key: str) -> HistoryDrop:
    """Brings the messages back on a branch of its own, with all that was said since.

    Where they have not gone yet they stay. Raises SessionBusy, RowGone, NotKept.
    """
    with locked_session(session_pk) as session:
        drop = session.history_drops.filter(key=key).select_related("left").first()
        if drop is None:
            raise RowGone("These messages are not in this session any more.")
        if drop.undone_at is not None:
            raise NotKept("These messages are back already.")
        if drop.done_at is not None:
            branch = branch_of(session)
            at = next((place for place, turn in enumerate(branch) if turn.pk == drop.head_id), None)
            if at is None:
                raise _why_not(drop, branch)
            copy_branch_below(session, drop.left, [copy_of(turn) for turn in branch[at + 1 :]])
        drop.undone_at = timezone.now()
        drop.save(update_fields=["undone_at"])
    return drop


def _why_not(drop: HistoryDrop, branch: Sequence[Turn]) -> NotKept:
    """Why messages cannot be put back on a branch on which the end of the one without them is not."""
    later = HistoryDrop.objects.filter(session=drop.session_id, done_at__gt=drop.done_at, undone_at=None)
    heads = {turn.pk for turn in branch}
    return OTHERS_FIRST() if heads.intersection(later.values_list("head", flat=True)) else ELSEWHERE()


def _carry_out(session: Session, drop: HistoryDrop) -> None:
    """Marks a drop as undone where its chunk is not on the branch in view any more."""
    branch, chunks = branch_of(session), HistoryChunk.objects.on_branch(session.head_id)
    places = {turn.pk: place for place, turn in enumerate(branch)}
    index = next((at for at, chunk in enumerate(chunks) if chunk.pk == drop.chunk_id), None)
    now = timezone.now()
    if index is None:
        HistoryDrop.objects.filter(pk=drop.pk).update(undone_at=now)
        return
    first = places[chunks[index - 1].last_turn_id] + 1 if index else 0
    end = places[chunks[index].last_turn_id] + 1
    left = branch[-1]
    copies = [copy_of(turn) for turn in branch[end:]]
    copy_branch_below(session, branch[first - 1] if first else None, copies)
    parent = chunks[index - 1].pk if index else None
    _freeze_again(
        chunks[index + 1 :],
        {chunk.pk: copies[places[chunk.last_turn_id] - end] for chunk in chunks[index + 1 :]},
        parent,
    )
    HistoryDrop.objects.filter(pk=drop.pk).update(left=left, head=copies[-1], done_at=now)


def _freeze_again(chunks: Sequence[HistoryChunk], ends: dict[int, Turn], parent: int | None) -> None:
    """The later chunks hold on the new branch too, with the same bytes."""
    for chunk in chunks:
        parent = HistoryChunk.objects.create(
            session_id=chunk.session_id,
            parent_id=parent,
            last_turn=ends[chunk.pk],
            name=chunk.name,
            content_id=chunk.content_id,
            sha256=chunk.sha256,
            tokens=chunk.tokens,
            messages=chunk.messages,
            policy=chunk.policy,
        ).pk
