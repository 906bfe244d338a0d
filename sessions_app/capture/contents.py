"""The contents of a captured request, and which turn of its session each of them is.

A program sends its history again with every request, in its own spelling, and nothing in it says which
answer a content once was. So contents are recognised: by what they say, by the signatures and call ids that
an answer had, and by their place.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby

from sessions_app.capture.cutting import CutBody
from sessions_app.capture.traits import LONG_ENOUGH, is_generated
from sessions_app.prompt import wire
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.parts import content, parts_of, text_of, text_part
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prompt_items import TEXT_KIND
from sessions_app.prompt.turns import TurnKind

CONTEXT = "generated_context"
"""Names of sources begin so that hold text which the program generated; their number follows."""

_TEXT = "text:"


@dataclass(frozen=True, slots=True)
class Content:
    """One content. `meaning` is its canonical hash; `wire` leaves out generated context, and is empty for a
    content of nothing else.
    """

    meaning: str
    kind: TurnKind
    wire: bytes


@dataclass(frozen=True, slots=True)
class KnownContent:
    """A content of the request before, with the turn that it is; `key` is empty for generated context."""

    key: str
    meaning: str
    kind: TurnKind


@dataclass(frozen=True, slots=True)
class KnownHistory:
    """The contents of the request before, its answer, and what all answers of the session can be told by."""

    contents: Sequence[KnownContent] = ()
    answer: str = ""
    """The turn of the answer; empty where none is known."""
    evidence: Mapping[str, str] | None = None
    """`evidence_of` → turn."""


def contents_of(cut: CutBody, meanings: Sequence[str]) -> list[Content]:
    """`meanings` are the canonical hashes of all contents, in order."""
    grouped: dict[int, list[Item]] = {}
    for item in cut.prompt:
        if item.content is not None:
            grouped.setdefault(item.content, []).append(item)
    return [Content(meanings[number], _kind(items), _own(items)) for number, items in sorted(grouped.items())]


def turns_of(contents: Sequence[Content], known: KnownHistory) -> list[str]:
    """The key of each content's turn; empty for a new one, and for generated context. Contents that were one
    answer have one key.
    """
    found = _by_meaning(contents, known.contents)
    found |= _in_pieces(contents, known, found)
    taken = set(found.values())
    for at, one in enumerate(contents):
        if at in found or not one.wire:
            continue
        key = _by_evidence(at, one, known, taken) or _by_place(at, contents, known, taken)
        if key:
            found[at] = key
            taken.add(key)
    return [found.get(at, "") for at in range(len(contents))]


def evidence_of(body: bytes) -> Iterator[str]:
    """What the content of an answer is recognised by when it comes back: signatures, call ids, its text."""
    for part in parts_of(body):
        if part.signature:
            yield "signature:" + sha256(part.signature).hexdigest()
        if part.call and (call_id := part.call.get("id")):
            yield f"call:{call_id}"
    text = text_of(body).strip()
    if len(text) >= LONG_ENOUGH:
        yield _TEXT + sha256(text.encode(errors="surrogatepass")).hexdigest()


def named_items(cut: CutBody, keys: Sequence[str]) -> list[Item]:
    """The items of the prompt under the names of their turns; `keys` are those of the contents."""
    named, contexts = [], 0
    for item in cut.prompt:
        if item.content is None:
            named.append(item)
        elif item.kind == TEXT_KIND and item.layer is Layer.DYNAMIC:
            contexts += 1
            named.append(item._replace(source=f"{CONTEXT}:{contexts}"))
        else:
            named.append(item._replace(source=f"turn:{keys[item.content]}"))
    return named


def _by_meaning(contents: Sequence[Content], known: Sequence[KnownContent]) -> dict[int, str]:
    """Those that say what a content of the request before said: at the same place, else further behind."""
    found = {
        at: one.key
        for at, (new, one) in enumerate(zip(contents, known, strict=False))
        if one.key and new.meaning == one.meaning
    }
    taken = set(found.values())
    free: dict[str, list[str]] = {}
    for one in known:
        if one.key and one.key not in taken:
            free.setdefault(one.meaning, []).append(one.key)
    for at, new in enumerate(contents):
        if at not in found and free.get(new.meaning):
            found[at] = free[new.meaning].pop(0)
    return found


def _in_pieces(contents: Sequence[Content], known: KnownHistory, found: Mapping[int, str]) -> dict[int, str]:
    """Answers that came back in several contents, which together have all that they are recognised by:
    google-genai keeps each chunk of a stream as one.
    """
    pieces: dict[int, str] = {}
    for is_model, group in groupby(range(len(contents)), key=lambda at: contents[at].kind.is_model):
        run = list(group)
        if not is_model or len(run) < 2 or found.keys() & set(run):
            continue
        parts = [view.raw for at in run for view in parts_of(contents[at].wire)]
        keys = {_turn_with(mark, known) for mark in evidence_of(wire.dumps(content("model", parts)))}
        if len(keys) == 1 and keys.isdisjoint({"", *found.values(), *pieces.values()}):
            pieces |= dict.fromkeys(run, keys.pop())
    return pieces


def _by_evidence(at: int, one: Content, known: KnownHistory, taken: set[str]) -> str:
    """The answer of which the content has a signature, a call or the text; the one that is due here."""
    if not one.kind.is_model:
        return ""
    marks = list(evidence_of(one.wire))
    due = known.answer if at == len(known.contents) else ""
    certain = (_turn_with(mark, known) for mark in marks if not mark.startswith(_TEXT))
    said = (_turn_with(mark, known) for mark in marks if mark.startswith(_TEXT))
    return next((key for key in (*certain, due, *said) if key and key not in taken), "")


def _turn_with(mark: str, known: KnownHistory) -> str:
    return (known.evidence or {}).get(mark, "")


def _by_place(at: int, contents: Sequence[Content], known: KnownHistory, taken: set[str]) -> str:
    """What stood at the same place and was of the same kind: it has changed. Never the trigger."""
    if at >= len(known.contents) or at == len(contents) - 1:
        return ""
    was = known.contents[at]
    return was.key if was.kind is contents[at].kind and was.key not in taken else ""


def _kind(items: Sequence[Item]) -> TurnKind:
    return TurnKind.USER_TASK if items[0].kind == TEXT_KIND else TurnKind(items[0].kind)


def _own(items: Sequence[Item]) -> bytes:
    if items[0].kind != TEXT_KIND:
        return items[0].wire
    texts = [wire.loads(b'"' + item.wire + b'"') for item in items]
    own = [text for text in texts if not is_generated(text)]
    return wire.dumps(content("user", [text_part(text) for text in own])) if own else b""
