"""Which signature of a content that was sent stands for which one that was received.

A signature belongs on the part that it came on, and the first call of a step needs one (gemini-wire §6).
"""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from sessions_app.catalogue import traits_of
from sessions_app.inspector.signature_trace import (
    ReceivedSignature,
    SentSignature,
    SignatureState,
    SignedCall,
)
from sessions_app.prompt.routes import family_of
from sessions_app.wording import signature_traces


@dataclass(frozen=True, slots=True)
class MatchedSignatures:
    """Pairs of one turn's signatures: the same bytes, else other bytes in the same place."""

    received: Sequence[ReceivedSignature]
    sent: Sequence[SentSignature]
    _by_received: dict[int, int] = field(default_factory=dict)
    _by_sent: dict[int, int] = field(default_factory=dict)

    def origin_of(self, at: int) -> ReceivedSignature | None:
        """What the sent signature `at` stands for; None for one too many."""
        found = self._by_sent.get(at)
        return None if found is None else self.received[found]

    def sent_for(self, signature: ReceivedSignature) -> SentSignature | None:
        """What was sent for it; None where nothing was."""
        found = self._by_received.get(self.received.index(signature))
        return None if found is None else self.sent[found]

    def copied_by(self, one: SentSignature) -> ReceivedSignature | None:
        """What a signature that stands for none has the bytes of."""
        if one.is_dummy:
            return None
        return next((other for other in self.received if other.sha256 == one.sha256), None)

    @property
    def unsent(self) -> list[ReceivedSignature]:
        return [one for at, one in enumerate(self.received) if at not in self._by_received]

    def pair(self, key: Callable[[ReceivedSignature | SentSignature], Hashable]) -> None:
        """Pairs those that are left and have the same key, in their order; None is no key."""
        left: dict[Hashable, deque[int]] = defaultdict(deque)
        for at, one in enumerate(self.received):
            if at not in self._by_received and (found := key(one)) is not None:
                left[found].append(at)
        for at, other in enumerate(self.sent):
            if at not in self._by_sent and left.get(key(other)):
                self._by_sent[at] = left[key(other)].popleft()
                self._by_received[self._by_sent[at]] = at


def matched(received: Sequence[ReceivedSignature], sent: Sequence[SentSignature]) -> MatchedSignatures:
    found = MatchedSignatures(received, sent)
    found.pair(lambda one: (one.sha256, one.call.key) if one.call else None)
    found.pair(lambda one: one.sha256)
    found.pair(lambda one: one.call.key if one.call else None)
    found.pair(lambda one: one.call is not None)
    return found


def is_regrouped(signature: ReceivedSignature, sent: SentSignature) -> bool:
    """Whether a signature that stands in another turn is on the call that it came on: programs put the calls
    of several steps into one content.
    """
    came, call = signature.call, sent.call
    return signature.sha256 == sent.sha256 and came is not None and call is not None and came.is_same(call)


def is_checked(route: str) -> bool:
    """False for a model that is known to take calls without signatures."""
    family = family_of(route)
    return not family.startswith("gemini-") or traits_of(family).signatures_required


@dataclass(frozen=True, slots=True)
class SentTo:
    """The request that a turn went with; `is_current`: in the current turn of that request."""

    number: int
    route: str
    is_captured: bool
    is_current: bool

    def is_due(self, signature: ReceivedSignature) -> bool:
        """Whether the model needs it: on the first call of a step of the current turn."""
        needed = signature.call is not None and signature.call.is_first and self.is_current
        return needed and is_checked(self.route)

    def dropped(self, signature: ReceivedSignature) -> tuple[SignatureState, str]:
        """The state of a signature that a captured program did not send."""
        is_due = self.is_due(signature)
        said = signature_traces.dropped(
            self.number, self.route, is_due=is_due, is_checked=is_checked(self.route)
        )
        return (SignatureState.LOST if is_due else SignatureState.DROPPED), said

    def moved(self, signature: ReceivedSignature, sent: SentSignature) -> tuple[SignatureState, str]:
        """The state of equal bytes that `is_in_place` denies.

        Pipeweb itself moves none: where it did, that is an alarm wherever it is.
        """
        is_due, is_first = self.is_due(signature), _is_same_part(signature.call, sent.call)
        said = signature_traces.moved(
            self.number, self.route, is_first=is_first, is_due=is_due, is_checked=is_checked(self.route)
        )
        is_alarm = is_due or not self.is_captured
        return (SignatureState.MOVED if is_alarm else SignatureState.MOVED_FREELY), said


def is_in_place(signature: ReceivedSignature, sent: SentSignature) -> bool:
    """Whether it is on the part that it came on, and on the first call still if it was."""
    came, call = signature.call, sent.call
    if not _is_same_part(came, call):
        return False
    return came is None or call is None or call.is_first or not came.is_first


def _is_same_part(came: SignedCall | None, call: SignedCall | None) -> bool:
    """Texts are not told apart: an answer comes in pieces, which are one part later."""
    if came is None or call is None:
        return came is call
    return came.is_same(call)
