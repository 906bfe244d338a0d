"""What single recorded answers say of the form of their model family."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date

from sessions_app.conform.recordings.recorded import RecordedExchange, Recording
from sessions_app.conform.recordings.rules import Wire, kind_of, parts_of
from sessions_app.conform.recordings.suitability import is_plain, is_wire
from sessions_app.emulator.answer_form import Signable
from sessions_app.emulator.signer import signable
from sessions_app.prompt.parts import parts_in, response_of, signature_of

ID, TIER, TURN_TOKEN = "call_ids_from", "tier_from", "turn_token_from"
DATED = (ID, TIER, TURN_TOKEN)
OPENING, CHUNK = "opening", "chunk"

Value = bool | int


@dataclass(frozen=True, slots=True)
class FormObservation:
    """One answer to one question: a field of AnswerForm, or a Signable, about the model `version`."""

    question: str
    version: str
    source: str
    value: Value
    day: date | None


def observe(recordings: Iterable[Recording]) -> Iterator[FormObservation]:
    """Everything that the recordings of Google's own service say; exchanges that cannot be played too."""
    for recording in recordings:
        for exchange in recording.exchanges:
            if isinstance(exchange, RecordedExchange) and exchange.generates and is_wire(exchange):
                for question, value in _answers(exchange):
                    yield FormObservation(question, exchange.version, recording.source, value, exchange.day)


def _answers(exchange: RecordedExchange) -> Iterator[tuple[str, Value]]:
    for question, look in QUESTIONS.items():
        if (value := look(exchange)) is not None:
            yield question, value
    if is_plain(exchange) and (kind := _signable(exchange)):
        yield kind, any("thoughtSignature" in part for part in _parts(exchange))


def _parts(exchange: RecordedExchange) -> list[Wire]:
    return [part for chunk in exchange.response_chunks for part in parts_of(chunk)]


def _calls(exchange: RecordedExchange) -> list[Wire]:
    return [part["functionCall"] for part in _parts(exchange) if "functionCall" in part]


def _texts(exchange: RecordedExchange) -> list[str]:
    return [part["text"] for part in _parts(exchange) if kind_of(part) == "text"]


def _usages(exchange: RecordedExchange) -> list[Wire]:
    return [chunk.get("usageMetadata", {}) for chunk in exchange.response_chunks]


def _has_thought(exchange: RecordedExchange) -> bool:
    return "thoughtsTokenCount" in _usages(exchange)[-1] or "thought" in exchange.kinds


def _signable(exchange: RecordedExchange) -> Signable | None:
    calls = bool(_calls(exchange))
    if not calls and (exchange.request is None or not _texts(exchange)):
        return None
    return signable(
        calls=calls,
        thought=_has_thought(exchange),
        after_tools=_answers_tools(exchange),
        declares_functions=any("functionDeclarations" in tool for tool in exchange.tools),
    )


def _answers_tools(exchange: RecordedExchange) -> bool:
    newest = exchange.contents[-1] if exchange.contents else {}
    return any(response_of(part) is not None for part in parts_in(newest))


def _closes_empty(exchange: RecordedExchange) -> bool | None:
    candidates = exchange.response_chunks[-1].get("candidates") or [{}]
    if not exchange.streams or not is_plain(exchange) or candidates[0].get("finishReason") != "STOP":
        return None
    return [kind_of(part) for part in parts_of(exchange.response_chunks[-1])] == ["empty text"]


def _splits_calls(exchange: RecordedExchange) -> bool | None:
    counts = [sum("functionCall" in part for part in parts_of(chunk)) for chunk in exchange.response_chunks]
    return max(counts) == 1 if exchange.streams and sum(counts) > 1 else None


def _counts_at_once(exchange: RecordedExchange) -> bool | None:
    chunks = exchange.response_chunks
    if not exchange.streams or "thought" not in {kind_of(part) for part in parts_of(chunks[0])}:
        return None
    return "thoughtsTokenCount" in _usages(exchange)[0]


def _restores(exchange: RecordedExchange) -> bool | None:
    """Only where the call came back with a signature of the same conversation."""
    if not exchange.streams or not is_plain(exchange) or not _answers_tools(exchange):
        return None
    returned = parts_in(exchange.contents[-2]) if len(exchange.contents) > 1 else []
    if not any(signature_of(part) is not None for part in returned):
        return None
    counts = [usage.get("promptTokenCount", 0) for usage in _usages(exchange)]
    return counts[-1] > counts[0] if len(counts) > 1 else None


def _has_id(exchange: RecordedExchange) -> bool | None:
    calls = _calls(exchange)
    return "id" in calls[0] if calls else None


def _opening(exchange: RecordedExchange) -> int | None:
    texts = _texts(exchange)
    is_cut = exchange.streams and is_plain(exchange) and len(texts) > 1 and _has_thought(exchange)
    return len(texts[0]) if is_cut else None


def _chunk(exchange: RecordedExchange) -> int | None:
    middle = _texts(exchange)[1:-1]
    return (
        sum(map(len, middle)) // len(middle) if exchange.streams and is_plain(exchange) and middle else None
    )


QUESTIONS: dict[str, Callable[[RecordedExchange], Value | None]] = {
    "closes_empty": _closes_empty,
    "splits_calls": _splits_calls,
    "counts_thoughts_at_once": _counts_at_once,
    "restores_thoughts": _restores,
    OPENING: _opening,
    CHUNK: _chunk,
    ID: _has_id,
    TIER: lambda exchange: "serviceTier" in _usages(exchange)[-1],
    TURN_TOKEN: lambda exchange: "turnToken" in exchange.response_chunks[-1],
}
