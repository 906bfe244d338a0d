"""The files of a folder of recordings, checked as they are read."""

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from sessions_app.conform.recordings.rules import Answer, Wire, kind_of, parts_of
from sessions_app.prompt.spellings import in_camel_case
from sessions_app.prompt.wire import as_objects

ROUTES = {
    "generateContent": ("POST", "models/{model}:generateContent"),
    "streamGenerateContent": ("POST", "models/{model}:streamGenerateContent"),
    "countTokens": ("POST", "models/{model}:countTokens"),
    "cachedContents.post": ("POST", "cachedContents"),
    "cachedContents.delete": ("DELETE", "{cache}"),
}


def _some(chunks: list[Wire]) -> list[Wire]:
    if not chunks:
        raise ValueError("no response")
    return chunks


def _text(value: Any) -> Any:
    return "" if value is None else value


Text = Annotated[str, BeforeValidator(_text)]


class RecordedExchange(BaseModel):
    """One recorded exchange. `tags` say how true it is; raw texts are there where the recorder kept them."""

    endpoint: str
    status: int
    response_chunks: Annotated[list[Wire], AfterValidator(_some)]
    request: Wire | None = None
    model: Text = ""
    model_requested: Text = ""
    raw_sse: Text = ""
    raw_body: Text = ""
    tags: frozenset[str] = Field(default=frozenset())

    @property
    def answer(self) -> Answer:
        keeps_order = "fidelity:wire" in self.tags
        return Answer(self.status, tuple(self.response_chunks), keeps_order, bool(self.cache_key))

    @property
    def contents(self) -> list[Wire]:
        return as_objects(self._asked("contents"))

    @property
    def tools(self) -> list[Wire]:
        """Each with its keys in camelCase."""
        found = as_objects(self._asked("tools"))
        return [{in_camel_case(name): one for name, one in tool.items()} for tool in found]

    @property
    def cache_key(self) -> str:
        """The key under which the request names an explicit cache; empty where it names none."""
        keys = ("cachedContent", "cached_content")
        return next((key for key in keys if key in (self.request or {})), "")

    def _asked(self, name: str) -> Any:
        """A field of the request, or of the one whose tokens it has counted."""
        request = self.request or {}
        counted = as_objects(request.get("generateContentRequest") or request.get("generate_content_request"))
        return (counted[0] if counted else request).get(name)

    @property
    def raw(self) -> str:
        return self.raw_sse or self.raw_body

    @property
    def streams(self) -> bool:
        return self.endpoint == "streamGenerateContent"

    @property
    def generates(self) -> bool:
        return self.status == 200 and self.endpoint.endswith("enerateContent")

    @property
    def version(self) -> str:
        """The model that answered."""
        named = (chunk.get("modelVersion") for chunk in self.response_chunks)
        return next((str(name) for name in named if name), self.model or self.model_requested)

    @property
    def kinds(self) -> set[str]:
        return {kind_of(part) for chunk in self.response_chunks for part in parts_of(chunk)}

    @property
    def day(self) -> date | None:
        """The day of the answer: its id begins with the seconds since 1970, four bytes, the lowest first."""
        return day_of(str(self.response_chunks[-1].get("responseId", "")))


def day_of(response_id: str) -> date | None:
    try:
        seconds = base64.urlsafe_b64decode(response_id + "=" * (-len(response_id) % 4))[:4]
    except (binascii.Error, ValueError):
        return None
    return datetime.fromtimestamp(int.from_bytes(seconds, "little"), UTC).date() if seconds else None


@dataclass(frozen=True, slots=True)
class Recording:
    """One file: a conversation of one client. An exchange that cannot be read is its error instead."""

    name: str
    exchanges: tuple[RecordedExchange | str, ...]

    @property
    def source(self) -> str:
        """Whose recording it is: the file name before `__`."""
        return self.name.partition("__")[0]

    @property
    def day(self) -> date | None:
        """The day of its first answer with one."""
        days = (one.day for one in self.exchanges if isinstance(one, RecordedExchange))
        return next((day for day in days if day), None)


class _File(BaseModel):
    exchanges: list[Any]


def read_folder(folder: Path) -> list[Recording]:
    """Every recording of a folder, in the order of the names."""
    return list(_read(folder))


def _read(folder: Path) -> Iterator[Recording]:
    for path in sorted(folder.glob("*.json")):
        try:
            found = _File.model_validate_json(path.read_bytes()).exchanges
        except ValidationError:
            yield Recording(path.stem, ("no file of recorded exchanges",))
        else:
            yield Recording(path.stem, tuple(map(_exchange, found)))


def _exchange(value: Any) -> RecordedExchange | str:
    try:
        return RecordedExchange.model_validate(value)
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        return f"not a recorded exchange: {place}"
