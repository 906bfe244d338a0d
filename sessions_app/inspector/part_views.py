"""The parts of a content as the pages show them."""

from dataclasses import dataclass, field
from typing import Any

from sessions_app.inspector import formatting
from sessions_app.prompt.logical_prompt import CONTEXT_LENGTH
from sessions_app.prompt.parts import FileData, PartView, parts_of, without_signature
from sessions_app.prompt.prefix_diff import BreakPlace
from sessions_app.prompt.signatures import signatures_of
from sessions_app.wording.sources import part_name

INLINE = 20_000
"""Characters up to which a text is shown in full; the rest is loaded on request."""

PREVIEW = 1_500
"""Characters shown of a longer text."""

GLIMPSE = 160
"""Characters shown of a text when the page's budget is used up."""


@dataclass(slots=True)
class TextBudget:
    """Characters that a page may still show inline."""

    left: int = 120_000

    def take(self, size: int) -> int:
        """How many characters of a text of `size` to show; they are subtracted from the budget."""
        wanted = size if size <= INLINE else PREVIEW
        shown = wanted if wanted <= self.left else min(size, GLIMPSE)
        self.left -= shown
        return shown


@dataclass(frozen=True, slots=True)
class SignatureBadge:
    """The signature of a part. `size` is decoded bytes."""

    size: int
    sha256: str
    is_dummy: bool


@dataclass(frozen=True, slots=True)
class ShownPart:
    """One part or text. `rest` is the number of characters that are not shown; `mark` that of the characters
    before the place where the requests part, None in any other part.
    """

    kind: str
    title: str
    text: str
    size: int
    place: str = ""
    rest: int = 0
    signature: SignatureBadge | None = None
    mark: int | None = None

    @property
    def before(self) -> str:
        return self.text[: self.mark]

    @property
    def marked(self) -> str:
        """What stands at the mark."""
        return "" if self.mark is None else self.text[self.mark : self.mark + CONTEXT_LENGTH]

    @property
    def after(self) -> str:
        return "" if self.mark is None else self.text[self.mark + CONTEXT_LENGTH :]


@dataclass(frozen=True, slots=True)
class PartReader:
    """Reads contents in full, or as far as the page's budget allows."""

    whole: bool = False
    budget: TextBudget = field(default_factory=TextBudget)

    def part(
        self,
        kind: str,
        title: str,
        text: str,
        *,
        place: str = "",
        signature: SignatureBadge | None = None,
        mark: int | None = None,
    ) -> ShownPart:
        """A marked text is shown beyond the mark, whatever the budget."""
        least = 0 if mark is None else mark + GLIMPSE
        shown = text if self.whole else text[: max(least, self.budget.take(len(text)))]
        return ShownPart(kind, title, shown, len(text), place, len(text) - len(shown), signature, mark)

    def content(self, wire: bytes, *, at: BreakPlace | None = None) -> tuple[ShownPart, ...]:
        """The parts of one content's wire JSON, with a mark `at` a place; other bytes as one text."""
        try:
            views = parts_of(wire)
        except ValueError:
            return (self.part("other", "Not JSON", formatting.decoded(wire)),)
        badges = badges_of(wire)
        return tuple(self._view(view, badges.get(view.index), mark_in(view, at)) for view in views)

    def _view(self, view: PartView, badge: SignatureBadge | None, mark: int | None) -> ShownPart:
        place = part_name(view.index)
        return self.part(view.kind, title_of(view), text_of(view), place=place, signature=badge, mark=mark)


def mark_in(view: PartView, at: BreakPlace | None) -> int | None:
    """Where the page marks the place in a part: its beginning, where the page shows another form of it."""
    if at is None or at.part != view.index + 1:
        return None
    return len(formatting.visible(view.text[: at.char])) if view.text and at.line is not None else 0


def badges_of(wire: bytes) -> dict[int, SignatureBadge]:
    """Part index → the signature it carries."""
    return {
        found.part: SignatureBadge(found.size, found.sha256, found.dummy) for found in signatures_of(wire)
    }


def title_of(view: PartView) -> str:
    """A title for the part, with the names of keys that this version does not know."""
    title = _title(view)
    if not view.unknown or view.kind == "other":
        return title
    return f"{title}, with unknown {formatting.visible(', '.join(view.unknown))}"


def _title(view: PartView) -> str:
    match view.kind:
        case "text":
            return "Text" if view.text or not view.signature else "Empty text with a signature"
        case "function_call":
            return f"Calls {_name(view.call)}"
        case "function_response":
            return f"Answer of {_name(view.response)}"
        case "inline_data":
            return _file_title(view.file)
        case kind:
            return kind.replace("_", " ").capitalize()


def text_of(view: PartView) -> str:
    """The part's text, arguments or result; empty for an inline file."""
    match view.kind:
        case "text" | "thought":
            return formatting.visible(view.text)
        case "function_call":
            return formatting.indented((view.call or {}).get("args", {}))
        case "function_response":
            return formatting.indented((view.response or {}).get("response", {}))
        case "inline_data":
            return ""
        case _:
            return formatting.indented(without_signature(view.raw))


def _file_title(file: FileData | None) -> str:
    mime, size = (file.mime, file.size or 0) if file else ("", 0)
    return f"{mime or 'file'}, {formatting.size(size)}"


def _name(called: dict[str, Any] | None) -> str:
    return formatting.visible(str((called or {}).get("name") or "a function without a name"))
