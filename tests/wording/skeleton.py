"""A page without its text: the tags in order, with every attribute that is not read by a person."""

from html.parser import HTMLParser

READ = frozenset({"title", "aria-label", "aria-description", "alt", "placeholder"})
"""Attributes whose value is text."""

TOKENS = frozenset({"hx-headers"})
"""Attributes that hold a token of this one answer."""

Tag = tuple[str, tuple[tuple[str, str | None], ...]]


def skeleton(page: str) -> list[Tag]:
    """Attributes of text stay without their values, and so do those that hold a token."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.tags


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[Tag] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("name") == "csrfmiddlewaretoken":
            given["value"] = None
        left_out = READ | TOKENS
        kept = ((name, None if name in left_out else value) for name, value in given.items())
        self.tags.append((tag, tuple(kept)))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", ()))
