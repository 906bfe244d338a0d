"""The session, the turns and the run of a captured request."""

import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import F

from sessions_app.capture.contents import (
    Content,
    KnownContent,
    KnownHistory,
    contents_of,
    evidence_of,
)
from sessions_app.capture.cutting import cut
from sessions_app.capture.placements import LaneRole, Relation
from sessions_app.capture.traits import traits_of
from sessions_app.models import (
    Blob,
    CapturedRequest,
    CapturedSession,
    Exchange,
    Origin,
    Run,
    Session,
    Turn,
)
from sessions_app.models.blob import digest
from sessions_app.models.columns import storable
from sessions_app.models.titles import TITLE_LENGTH, starting_words
from sessions_app.models.turn import said_text, searched_text
from sessions_app.models.turn_numbers import SOURCE
from sessions_app.prompt.turns import IMPORTED, TurnKind

REMEMBERED_CONTENTS = 50_000
"""Contents of requests that are kept, so that the next one is not compared by reading rows."""

REMEMBERED_SESSIONS = 100
"""Sessions whose answers are kept to be recognised."""


@dataclass
class RememberedHistories:
    """What requests contained and how answers are recognised, of one process; else it is read from rows."""

    _contents: "OrderedDict[int, tuple[KnownContent, ...]]" = field(default_factory=OrderedDict)
    _evidence: "OrderedDict[int, dict[str, str]]" = field(default_factory=OrderedDict)
    _size: int = 0

    def keep(self, captured: CapturedRequest, keys: Sequence[str], contents: Sequence[Content]) -> None:
        pairs = zip(keys, contents, strict=True)
        self._contents[captured.pk] = tuple(KnownContent(key, one.meaning, one.kind) for key, one in pairs)
        self._size += len(contents)
        while self._size > REMEMBERED_CONTENTS and len(self._contents) > 1:
            self._size -= len(self._contents.popitem(last=False)[1])

    def add_answer(self, session_pk: int, turn: Turn) -> None:
        if session_pk in self._evidence:
            self._evidence[session_pk] |= dict.fromkeys(evidence_of(turn.wire), str(turn.public))

    def forget_answers(self) -> None:
        """Another process has recorded some."""
        self._evidence.clear()

    def forget(self) -> None:
        """After sessions were changed by hand, or a transaction was rolled back."""
        self._contents.clear()
        self.forget_answers()
        self._size = 0

    def before(self, session_pk: int, captured: CapturedRequest | None) -> KnownHistory:
        """What is known when a request follows `captured`, or opens a lane."""
        evidence = self._evidence_in(session_pk)
        if captured is None or captured.exchange is None:
            return KnownHistory(evidence=evidence)
        exchange = captured.exchange
        answer = exchange.turns.order_by("pk").values_list("public", flat=True).first()
        contents = self._contents.get(captured.pk) or known_contents(exchange)
        return KnownHistory(contents, str(answer or ""), evidence)

    def _evidence_in(self, session_pk: int) -> dict[str, str]:
        found = self._evidence.pop(session_pk, None)
        if found is None:
            answers = Turn.objects.filter(session=session_pk, exchange__isnull=False).order_by("pk")
            found = {
                mark: str(turn.public)
                for turn in answers.select_related("content")
                for mark in evidence_of(turn.wire)
            }
        self._evidence[session_pk] = found
        if len(self._evidence) > REMEMBERED_SESSIONS:
            self._evidence.popitem(last=False)
        return found


def known_contents(exchange: Exchange) -> tuple[KnownContent, ...]:
    """The contents of a stored request with their turns."""
    names = {item.content: item.source.name for item in exchange.sent_items() if item.content is not None}
    body = exchange.request_body()
    traits = traits_of(body)
    if traits is None:
        return ()
    contents = contents_of(cut(body), traits.contents)
    keys = (names.get(at, "") for at in range(len(contents)))
    return tuple(
        KnownContent(key.removeprefix(SOURCE) if key.startswith(SOURCE) else "", one.meaning, one.kind)
        for key, one in zip(keys, contents, strict=True)
    )


def session_of(captured: CapturedRequest, contents: Sequence[Content]) -> Session:
    """The session of the key that the request was placed under; a new one for a new key, and for that of a
    session which its owner has deleted: what is asked afterwards is in no list there, and goes with it.
    """
    known = CapturedSession.objects.filter(address=captured.address_id, key=captured.session)
    found = known.select_related("session").first()
    if found is not None and found.session.deleted_at is None:
        return found.session
    if found is not None:
        _leave_behind(found)
    asked = (one for one in contents if one.kind is TurnKind.USER_TASK and one.wire)
    said = next((said_text(one.kind, one.wire) for one in asked), "")
    title = captured.name or starting_words(said) or captured.client.partition("/")[0] or captured.model
    session = Session.objects.create(
        owner_id=captured.address.owner_id,
        origin=Origin.CAPTURED,
        title=storable(title, TITLE_LENGTH),
        model=captured.model,
        updated_at=captured.received_at,
    )
    Session.objects.filter(pk=session.pk).update(created_at=captured.received_at)
    CapturedSession.objects.create(address_id=captured.address_id, key=captured.session, session=session)
    return session


def _leave_behind(deleted: CapturedSession) -> None:
    """Frees the key of a deleted session, which has another one from then on: it may be restored."""
    key = f"deleted:{uuid.uuid4()}"
    rows = CapturedRequest.objects.filter(address=deleted.address_id, session=deleted.key)
    rows.filter(exchange__session=deleted.session_id).update(session=key)
    CapturedSession.objects.filter(pk=deleted.pk).update(key=key)


def add_turns(
    session: Session,
    contents: Sequence[Content],
    keys: Sequence[str],
    captured: CapturedRequest,
    *,
    below: str = "",
) -> list[str]:
    """Adds the turns that are new, each below the one before it; returns the keys of all contents.

    `below` is the turn above the first content, where it is not in the request.

    Those of a history that was never seen before belong to runs that no exchange has.
    """
    new = _NewTurns(session, captured)
    if all(keys):
        return list(keys)
    # What another agent of the session said is named as its turn, and nothing of this one hangs below it.
    own = Turn.objects.filter(session=session, run__lane=captured.lane)
    rows = own.filter(public__in=_above_new(contents, keys, below)).only("public", "depth")
    known = {str(turn.public): turn for turn in rows}
    found: list[str] = list(keys)
    above = known.get(below)
    for number, (one, key) in enumerate(zip(contents, keys, strict=True)):
        if key:
            above = known.get(key)
        elif one.wire:
            above = new.add(one, above, is_last=number == len(contents) - 1)
            found[number] = str(above.public)
    new.save()
    return found


def _above_new(contents: Sequence[Content], keys: Sequence[str], below: str) -> set[str]:
    """The keys of the turns below which new ones come."""
    found, above = set(), below
    for one, key in zip(contents, keys, strict=True):
        if key:
            above = key
        elif one.wire and above:
            found.add(above)
            above = ""
    return found


@dataclass
class _NewTurns:
    """Turns of one request, saved together."""

    session: Session
    captured: CapturedRequest
    _turns: list[Turn] = field(default_factory=list)
    _wires: list[bytes] = field(default_factory=list)
    _above: list[Turn | None] = field(default_factory=list)
    _runs: list[Run] = field(default_factory=list)

    def add(self, one: Content, above: Turn | None, *, is_last: bool) -> Turn:
        """The last content of a request is its trigger, to which `run_of` gives a run."""
        if one.kind is TurnKind.USER_TASK and not is_last:
            self._runs.append(self._run_of_history())
        run = self._runs[-1] if self._runs and not is_last else None
        turn = Turn(
            public=uuid.uuid4(),
            session=self.session,
            depth=above.depth + 1 if above else 0,
            kind=one.kind.value,
            text=searched_text(one.kind, one.wire),
            run=run,
            route=IMPORTED if one.kind.is_model else "",
        )
        if run is not None and run.trigger is None:
            run.trigger = turn
        self._turns.append(turn)
        self._wires.append(one.wire)
        self._above.append(above)
        return turn

    def save(self) -> None:
        """Six statements, whatever their number."""
        if not self._turns:
            return
        triggers = [run.trigger for run in self._runs]
        for run in self._runs:
            run.trigger = None
        Run.objects.bulk_create(self._runs)
        blobs = Blob.objects.store(self.session.owner_id, self._wires)
        for turn, body in zip(self._turns, self._wires, strict=True):
            turn.content_id, turn.run = blobs[digest(body)], turn.run
        Turn.objects.bulk_create(self._turns)
        for turn, above in zip(self._turns, self._above, strict=True):
            turn.parent, turn.created_at = above, self.captured.received_at
        Turn.objects.bulk_update(self._turns, ["parent", "created_at"])
        for run, trigger in zip(self._runs, triggers, strict=True):
            run.trigger = trigger
        Run.objects.bulk_update(self._runs, ["trigger"])

    def _run_of_history(self) -> Run:
        captured = self.captured
        return Run(
            session=self.session,
            client_id=uuid.uuid4(),
            status=Run.Status.COMPLETED,
            lane=captured.lane,
            lane_role=captured.role,
            now=captured.received_at,
            ended_at=captured.received_at,
        )


def run_of(session: Session, trigger: Turn | None, before: Exchange | None, captured: CapturedRequest) -> Run:
    """The run that a request belongs to: that of the request before while results come, failures are repeated
    and an answer goes on, else a new one. A run goes from a person's text to an answer without calls.
    """
    goes_on = before is not None and _has_results_for(trigger, before, captured)
    repeats = captured.relation == Relation.RETRY and before is not None and not before.chunks.exists()
    if before is not None and (goes_on or repeats or captured.relation == Relation.HOP):
        return before.run
    run = Run.objects.create(
        session=session,
        trigger=trigger,
        client_id=captured.public,
        status=Run.Status.COMPLETED,
        model=captured.model,
        lane=captured.lane,
        lane_role=captured.role,
        now=captured.received_at,
    )
    Run.objects.filter(pk=run.pk).update(started_at=captured.received_at)
    if trigger is not None:
        Turn.objects.filter(pk=trigger.pk, run=None).update(run=run)
    return run


def _has_results_for(trigger: Turn | None, before: Exchange, captured: CapturedRequest) -> bool:
    """What came before the calls may have changed: then the results stand below the answer all the same."""
    if trigger is None or trigger.kind != TurnKind.TOOL_RESPONSE:
        return False
    if captured.relation == Relation.CONTINUES:
        return True
    return trigger.parent is not None and trigger.parent.exchange_id == before.pk


def advance(session: Session, turn: Turn, role: str, at: datetime) -> None:
    """The main lane is what the page of the session shows; lanes beside it are shown by its requests."""
    changes = {"head": turn} if role in (LaneRole.MAIN, "") else {}
    Session.objects.filter(pk=session.pk).update(updated_at=at, **changes)


def next_exchange_number(session: Session) -> int:
    """Must run in a transaction; several requests of a session may be under way."""
    Session.objects.filter(pk=session.pk).update(exchange_count=F("exchange_count") + 1)
    session.refresh_from_db(fields=["exchange_count"])
    return session.exchange_count
