"""All signatures of a session: where each came from, where it was sent back, and what became of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.core.paginator import Page, Paginator

from sessions_app.inspector.answer_hops import ends_of
from sessions_app.inspector.received_signatures import (
    ELSEWHERE,
    ReceivedSignatureTracer,
    SignatureOrigin,
    elsewhere,
    received_by,
)
from sessions_app.inspector.session_records import MODEL_KINDS, SessionRecords
from sessions_app.inspector.signature_trace import (
    ReceivedSignature,
    SignatureState,
    SignatureTrace,
    received_signatures,
)
from sessions_app.models import Exchange, Session, Turn
from sessions_app.wording.sources import source_title

PAGE_SIZE = 50


class SignatureFilter(StrEnum):
    """What the table can be narrowed to; the value is shown on the page."""

    RETURNED = "returned"
    LOST = "lost"
    WITHHELD = "withheld"
    FOREIGN = "foreign"
    DETACHED = "detached"
    DROPPED = "dropped"
    MOVED = "moved"
    STAND_IN = "stand-in"
    WAITING = "not due yet"


STATES: Mapping[SignatureFilter, frozenset[SignatureState]] = {
    SignatureFilter.RETURNED: frozenset({SignatureState.EQUAL}),
    SignatureFilter.LOST: frozenset({SignatureState.LOST, SignatureState.ALTERED}),
    SignatureFilter.WITHHELD: frozenset({SignatureState.WITHHELD, SignatureState.REFUSED}),
    SignatureFilter.FOREIGN: frozenset({SignatureState.FOREIGN, SignatureState.UNTRACED}),
    SignatureFilter.DETACHED: frozenset({SignatureState.DETACHED}),
    SignatureFilter.DROPPED: frozenset({SignatureState.DROPPED}),
    SignatureFilter.MOVED: frozenset({SignatureState.MOVED, SignatureState.MOVED_FREELY}),
    SignatureFilter.STAND_IN: frozenset({SignatureState.DUMMY}),
    SignatureFilter.WAITING: frozenset({SignatureState.NOT_DUE}),
}


@dataclass(frozen=True, slots=True)
class SignatureRow:
    """`turn` is the name of the turn that has it; empty for a reply that was not kept."""

    turn: str
    trace: SignatureTrace


@dataclass(frozen=True, slots=True)
class FoundSignature:
    """A signature that is not traced yet."""

    origin: SignatureOrigin
    signature: ReceivedSignature


@dataclass(frozen=True, slots=True)
class SignatureTable:
    rows: list[SignatureRow]
    page: Page[FoundSignature]
    chosen: SignatureFilter | None
    sha256: str
    """The beginning of the hash that is looked for."""


def signature_table(session: Session, params: Mapping[str, str]) -> SignatureTable:
    """The page that the parameters ask for, newest first: at most nine queries."""
    chosen = next((one for one in SignatureFilter if one.value == params.get("state")), None)
    sha256 = params.get("sha256", "").strip().lower()[:64]
    found = [one for one in found_signatures(session) if one.signature.sha256.startswith(sha256)]
    records = SessionRecords(session.pk, is_captured=session.is_captured)
    known: dict[int, SignatureRow] = {}
    if chosen is not None:
        known = {id(one): row for one, row in zip(found, rows_of(found, records), strict=True)}
        found = [one for one in found if known[id(one)].trace.state in STATES[chosen]]
    page = Paginator(found, PAGE_SIZE).get_page(params.get("page", "1"))
    rows = [known[id(one)] for one in page] if known else rows_of(list(page), records)
    return SignatureTable(rows, page, chosen, sha256)


def found_signatures(session: Session) -> list[FoundSignature]:
    """Four queries: those of every reply, the newest first, then those of turns from elsewhere."""
    turns = Turn.objects.filter(session=session, kind__in=MODEL_KINDS).select_related("content")
    replies: dict[int, list[Turn]] = defaultdict(list)
    others: dict[int, list[Turn]] = defaultdict(list)
    for turn in turns.order_by("origin_id", "pk"):
        if turn.exchange_id is not None:
            replies[turn.exchange_id].append(turn)
        else:
            others[turn.origin_id or turn.pk].append(turn)
    rows = Exchange.objects.filter(session=session).order_by("-number")
    exchanges = list(rows.only("number", "route", "dialect", "continues"))
    received, ends = received_signatures(exchanges), ends_of(exchanges)
    answers: dict[int, list[ReceivedSignature]] = defaultdict(list)
    for one in reversed(exchanges):
        answers[ends[one.pk].pk] += received[one.number]
    origins = (
        SignatureOrigin(
            one.number,
            end.number,
            one.route,
            tuple(replies[end.pk]),
            received_by(replies[end.pk], answers[end.pk]),
        )
        for one in exchanges
        for end in (ends[one.pk],)
    )
    from_elsewhere = (
        SignatureOrigin(ELSEWHERE, ELSEWHERE, turns[0].route, tuple(turns), elsewhere(turns[0]))
        for turns in others.values()
    )
    return [
        FoundSignature(origin, each) for origin in (*origins, *from_elsewhere) for each in origin.signatures
    ]


def rows_of(found: Sequence[FoundSignature], records: SessionRecords) -> list[SignatureRow]:
    """Traced through every later request; at most five queries."""
    origins = {id(one.origin): one.origin for one in found}
    records.read_contents(records.sources_of(turn for one in origins.values() for turn in one.turns))
    tracers = {key: ReceivedSignatureTracer(origin, records) for key, origin in origins.items()}
    return [
        SignatureRow(_turn_name(one.origin), tracers[id(one.origin)].trace(one.signature)) for one in found
    ]


def _turn_name(origin: SignatureOrigin) -> str:
    return source_title(f"turn:{origin.turn.public}", origin.turn.number) if origin.turn else ""
