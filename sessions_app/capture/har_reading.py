"""An HTTP archive (HAR 1.2) as records of captured requests. No I/O, no Django.

Only requests to the Gemini API are taken; what else the file holds is counted by the reason. Secrets are left
out by the lists of the relay: headers by names, keys of the query, the token of an address.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from sessions_app.capture.api_paths import ApiRequest, api_request, base_shown_by
from sessions_app.capture.har_format import (
    HarAddressed,
    HarArchive,
    HarEntry,
    HarHeader,
    HarObject,
    HarRequest,
    HarText,
)
from sessions_app.capture.headers import SESSION_HEADER, Pair, first, kept, scope_of
from sessions_app.capture.paths import without_secrets
from sessions_app.capture.records import Begun, Ended, Record
from sessions_app.error_codes import CaptureFault, HarProblem
from sessions_app.errors import HarRefused

T = TypeVar("T", bound=HarObject)

METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})

REQUESTS = 500
"""The most requests of one file: the page waits until all are written."""

ROUNDED = 0.001
"""Seconds by which times of a file may be off: a request that begins so shortly before the end of another
one came after it.
"""

ENCODED = "content-encoding"
"""A header of the answer that no longer holds: an archive has bodies unpacked."""


class Ignored(StrEnum):
    """Why an entry is not recorded. `NO_BODY`: it asks the model, and what it asked is not in the file."""

    OTHER_ADDRESS = "other_address"
    METHOD = "method"
    NO_BODY = "no_body"


@dataclass(frozen=True, slots=True)
class ReadHar:
    """`records` are in the order of time. `ignored` counts the other entries."""

    records: Sequence[Record]
    requests: int
    ignored: Mapping[Ignored, int] = field(default_factory=dict)


Found = tuple[Begun, Ended] | Ignored


class Importer(NamedTuple):
    """Whose requests they become; `secret` is the key of the hash of installations."""

    address: int
    owner: int
    secret: str


def read_har(body: bytes, importer: Importer) -> ReadHar:
    """Raises HarRefused with the place in the file."""
    entries = _entries(body)
    urls = [_read(HarAddressed, one, _place_of(number)).request.url for number, one in enumerate(entries)]
    bases = {base_shown_by(url) for url in urls} - {""}
    ignored: Counter[Ignored] = Counter()
    records: list[tuple[float, int, Record]] = []
    for number, (entry, url) in enumerate(zip(entries, urls, strict=True)):
        asked, where = api_request(url, bases), _place_of(number)
        found: Found = Ignored.OTHER_ADDRESS
        if asked is not None:
            found = _recorded(_read(HarEntry, entry, where), where, importer, asked)
        if isinstance(found, Ignored):
            ignored[found] += 1
            continue
        begun, ended = found
        records.append((begun.received_at.timestamp(), 2 * number, begun))
        over = max(begun.received_at.timestamp(), ended.ended_at.timestamp() - ROUNDED)
        records.append((over, 2 * number + 1, ended))
    if not records:
        raise HarRefused(HarProblem.NOTHING, entries=len(entries))
    if (requests := len(records) // 2) > REQUESTS:
        raise HarRefused(HarProblem.TOO_MANY, requests=requests, limit=REQUESTS)
    records.sort(key=lambda one: one[:2])
    return ReadHar([record for *_, record in records], requests, ignored)


def _entries(body: bytes) -> Sequence[Any]:
    """Raises HarRefused."""
    try:
        return HarArchive.model_validate_json(body.removeprefix(b"\xef\xbb\xbf")).log.entries
    except ValidationError as error:
        raise _refused(error) from error


def _read(kind: type[T], entry: Any, where: str) -> T:
    """Raises HarRefused."""
    try:
        return kind.model_validate(entry)
    except ValidationError as error:
        raise _refused(error, where) from error


def _refused(error: ValidationError, within: str = "") -> HarRefused:
    found = error.errors(include_url=False, include_input=False)[0]
    if found["type"] == "json_invalid":
        return HarRefused(HarProblem.NOT_JSON, problem=str(found["ctx"]["error"]))
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in found["loc"])
    where = f"{within}{''.join(steps)}".removeprefix(".") or "log"
    return HarRefused(HarProblem.WRONG, where=where, problem=found["msg"])


def _place_of(number: int) -> str:
    return f"log.entries[{number}]"


def _recorded(entry: HarEntry, where: str, importer: Importer, asked: ApiRequest) -> Found:
    """Raises HarRefused."""
    method = entry.request.method.upper()
    if method not in METHODS:
        return Ignored.METHOD
    path, query = asked.path, urlsplit(entry.request.url).query
    body = _body_of(entry.request, f"{where}.request.postData")
    if body is None and path.asks_model:
        return Ignored.NO_BODY
    headers = _pairs(entry.request.headers)
    begun = Begun(
        importer.address,
        importer.owner,
        entry.started_date_time,
        method,
        path.rest + (f"?{without_secrets(query)}" if query else ""),
        client=first(headers, "user-agent"),
        headers=kept(headers),
        scope=scope_of(headers, importer.secret),
        name=first(headers, SESSION_HEADER).strip()[:80] or path.name,
        model=path.model,
        asks_model=path.asks_model,
        # As the relay: an upload is counted and not kept.
        body=None if path.is_upload else (body or b""),
        size=0 if path.is_upload else len(body or b""),
        base_url=asked.base_url,
    )
    return begun, _ended(entry, where, begun, len(body or b""))


def _ended(entry: HarEntry, where: str, begun: Begun, request_size: int) -> Ended:
    answer = entry.response
    body = _bytes_of(answer.content, f"{where}.response.content")
    total, receive = entry.time, entry.timings.receive
    headers = [pair for pair in _pairs(answer.headers) if pair[0].lower() != ENCODED]
    packets = [(ms, size) for ms, size in answer.packets if ms >= 0 and size >= 0]
    has_come = answer.status > 0
    return Ended(
        begun.key,
        begun.address,
        begun.owner,
        begun.asks_model,
        begun.received_at + timedelta(milliseconds=min(total or 0.0, _LONGEST)),
        status=answer.status if has_come else None,
        content_type=first(headers, "content-type"),
        headers=kept(headers, of_answer=True),
        body=body or b"",
        size=len(body or b""),
        request_size=request_size,
        packets=packets if sum(size for _, size in packets) == len(body or b"") else [],
        is_cut=has_come and (body is None or bool(answer.failure_text or answer.error)),
        fault="" if has_come else CaptureFault.NOT_IN_FILE,
        first_ms=None if total is None or receive is None or not has_come else max(0.0, total - receive),
        total_ms=total,
        base_url=begun.base_url,
    )


_LONGEST = timedelta(days=1) / timedelta(milliseconds=1)
"""The longest time of a request, in milliseconds; a larger number is not taken for one."""


def _body_of(request: HarRequest, where: str) -> bytes | None:
    sent = request.post_data or HarText()
    return None if request.body_size and not sent.text else _bytes_of(sent, where)


def _bytes_of(text: HarText, where: str) -> bytes | None:
    """The body; None where the file has none. Raises HarRefused."""
    if text.text is None or (not text.text and (text.file or text.size)):
        return None
    if text.encoding.lower() != "base64":
        return text.text.encode("utf-8", "surrogatepass")
    try:
        # Some programs write it in lines.
        return base64.b64decode("".join(text.text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise HarRefused(HarProblem.BASE64, where=where) from error


def _pairs(headers: Sequence[HarHeader]) -> list[Pair]:
    return list(_latin(headers))


def _latin(headers: Sequence[HarHeader]) -> Iterator[Pair]:
    """As HTTP has them; HTTP/2's own (`:path`) are none."""
    for one in headers:
        if not one.name.startswith(":"):
            yield one.name, one.value.encode("latin-1", "replace").decode("latin-1")
