"""Finds what pages print of a session besides its texts: hashes, and names of turns and history chunks."""

import re
from dataclasses import dataclass, field

from sessions_app.inspector.signature_trace import received_signatures, signatures_in
from sessions_app.inspector.source_titles import SourceTitles
from sessions_app.models import Exchange, ExchangeAttempt, Session, Source, Turn

SHORTEST = 8
"""Hexadecimal digits from which a text can be a hash; pages print 8 or more."""

_HASH = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}", re.IGNORECASE)

COLUMNS = {
    "request_sha256": ("Request sha256", "wire"),
    "sent_sha256": ("Sent sha256", "wire"),
    "fingerprint": ("Fingerprint", "cache"),
    "route": ("Route", "cache"),
}
"""Hashes of an exchange: what a match is called, and the tab that prints it."""


@dataclass(frozen=True, slots=True)
class PrintedName:
    """`tab` prints it; empty for an item of the request."""

    name: str
    text: str
    tab: str = ""


@dataclass(slots=True)
class PrintedNames:
    """Where a name was found that pages print: by exchange number, and by source."""

    by_exchange: dict[int, PrintedName] = field(default_factory=dict)
    by_source: dict[int, PrintedName] = field(default_factory=dict)


def as_hash(text: str) -> str:
    """The text as the beginning of a hash; empty when it cannot be one."""
    stripped = text.strip().rstrip("….").replace("-", "")
    return stripped.lower() if _HASH.fullmatch(stripped) else ""


def signed_with(body: bytes, sha256: str) -> PrintedName | None:
    """The signature of a content whose hash begins so."""
    found = next((one for one in signatures_in(body) if one.sha256.startswith(sha256)), None)
    return PrintedName("Signature", found.sha256) if found else None


def printed_names(session: Session, text: str) -> PrintedNames:
    """Two queries for names, and four for a hash, without the signatures of sources (`signed_with`)."""
    names, sha256 = PrintedNames(), as_hash(text)
    if sha256:
        _add_hashes(names, session, sha256)
    _add_turns(names, session, text.strip().lower(), sha256)
    return names


def _add_hashes(names: PrintedNames, session: Session, sha256: str) -> None:
    exchanges = list(Exchange.objects.filter(session=session).only("number", "dialect", *COLUMNS))
    received = received_signatures(exchanges)
    for exchange in exchanges:
        for one in received[exchange.number]:
            if one.sha256.startswith(sha256):
                names.by_exchange[exchange.number] = PrintedName("Signature", one.sha256, "signatures")
        for column, (name, tab) in COLUMNS.items():
            value = getattr(exchange, column)
            if value.startswith(sha256):
                names.by_exchange[exchange.number] = PrintedName(name, value, tab)
    refused = ExchangeAttempt.objects.filter(exchange__session=session, body__sha256__startswith=sha256)
    for number, value in refused.values_list("exchange__number", "body__sha256"):
        names.by_exchange[number] = PrintedName("Refused answer", value, "wire")
    sources = Source.objects.filter(session=session, blob__sha256__startswith=sha256)
    for pk, value in sources.values_list("pk", "blob__sha256"):
        names.by_source[pk] = PrintedName("Item sha256", value)


def _add_turns(names: PrintedNames, session: Session, text: str, key: str) -> None:
    """A turn by its printed name or the beginning of its key; also the answer that no request carries yet."""
    sources = dict(Source.objects.filter(session=session).values_list("pk", "name"))
    answers = Turn.objects.filter(session=session, exchange__isnull=False)
    carried = answers.values_list("public", "exchange__number")
    by_turn = {f"turn:{public}": number for public, number in carried}
    titles = SourceTitles(session.pk, [*sources.values(), *by_turn])

    def is_wanted(source: str) -> bool:
        kind, _, its_key = source.partition(":")
        if kind not in ("turn", "chunk"):
            return False
        return text == titles.title(source).lower() or (
            bool(key) and its_key.replace("-", "").startswith(key)
        )

    for pk, source in sources.items():
        if is_wanted(source):
            names.by_source[pk] = PrintedName("Item", titles.title(source))
    for source, number in by_turn.items():
        if is_wanted(source):
            names.by_exchange[number] = PrintedName("Answer", titles.title(source), "response")
