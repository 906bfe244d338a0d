"""Contents opened into parts, as the pages show them."""

from dataclasses import dataclass, field
from typing import Any

from sessions_app.inspector import figures, texts
from sessions_app.prompt.signatures import signatures_of
from sessions_app.prompt.turns import PartView, parts_of

INLINE = 20_000
"""Characters of one text that a page shows at once; the rest comes on request."""

PREVIEW = 1_500
"""Characters of a longer text that are shown until the rest is asked for."""

GLIMPSE = 160
"""Characters of a text when the page is already full."""


@dataclass(slots=True)
class Space:
    """What a page may still show inline, so that a request of a megabyte stays a page and not a flood."""

    left: int = 120_000

    def take(self, size: int) -> int:
        """How many characters of a text of `size` to show; the room they need is gone afterwards."""
        wanted = size if size <= INLINE else PREVIEW
        shown = wanted if wanted <= self.left else min(size, GLIMPSE)
        self.left -= shown
        return shown


@dataclass(frozen=True, slots=True)
class Badge:
    """A signature standing on its part. `size` is decoded bytes."""

    size: int
    sha256: str
    is_dummy: bool


@dataclass(frozen=True, slots=True)
class ShownPart:
    """One part, or one whole text. `rest` is the number of characters that are not on the page yet."""

    kind: str
    title: str
    text: str
    size: int
    place: str = ""
    rest: int = 0
    signature: Badge | None = None


@dataclass(frozen=True, slots=True)
class Media:
    """What an inline file is, without its bytes."""

    mime: str
    size: int

    @property
    def words(self) -> str:
        return f"{self.mime or 'file'}, {figures.size(self.size)}"


@dataclass(frozen=True, slots=True)
class Reading:
    """How much of a content to show: the whole of it, or what fits the page."""

    whole: bool = False
    space: Space = field(default_factory=Space)

    def part(
        self, kind: str, title: str, text: str, *, place: str = "", signature: Badge | None = None
    ) -> ShownPart:
        shown = text if self.whole else text[: self.space.take(len(text))]
        return ShownPart(kind, title, shown, len(text), place, len(text) - len(shown), signature)

    def content(self, wire: bytes, *, place: str = "") -> tuple[ShownPart, ...]:
        """The parts of one content's wire JSON; a content that is not JSON is one text."""
        try:
            views = parts_of(wire)
        except ValueError:
            return (self.part("other", "Not JSON", texts.decoded(wire), place=place),)
        badges = badges_of(wire)
        return tuple(self._view(view, place, badges.get(view.index)) for view in views)

    def _view(self, view: PartView, place: str, badge: Badge | None) -> ShownPart:
        where = f"{place}.parts[{view.index}]" if place else f"parts[{view.index}]"
        return self.part(view.kind, title_of(view), text_of(view), place=where, signature=badge)


def badges_of(wire: bytes) -> dict[int, Badge]:
    """Part index → the signature it carries."""
    return {found.part: Badge(found.size, found.sha256, found.dummy) for found in signatures_of(wire)}


def title_of(view: PartView) -> str:
    match view.kind:
        case "text":
            return "Text" if view.text or not view.signature else "Empty text with a signature"
        case "function_call":
            return f"Calls {_name(view.call)}"
        case "function_response":
            return f"Answer of {_name(view.response)}"
        case "inline_data":
            return media_of(view.raw).words
        case kind:
            return kind.replace("_", " ").capitalize()


def text_of(view: PartView) -> str:
    """What a person reads of a part: its text, arguments or result; never the bytes of a file."""
    match view.kind:
        case "text" | "thought":
            return texts.visible(view.text)
        case "function_call":
            return texts.indented((view.call or {}).get("args", {}))
        case "function_response":
            return texts.indented((view.response or {}).get("response", {}))
        case "inline_data":
            return ""
        case _:
            return texts.indented({key: value for key, value in view.raw.items() if "ignature" not in key})


def media_of(raw: dict[str, Any]) -> Media:
    data = raw.get("inlineData", raw.get("inline_data"))
    data = data if isinstance(data, dict) else {}
    mime = data.get("mimeType", data.get("mime_type", ""))
    body = data.get("data", "")
    return Media(str(mime), len(str(body).rstrip("=")) * 3 // 4)


def _name(called: dict[str, Any] | None) -> str:
    return texts.visible(str((called or {}).get("name") or "a function without a name"))
