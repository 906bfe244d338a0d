"""What a browser posts when a person submits a form of a page without changing anything."""

import re
from html.parser import HTMLParser
from typing import Any


class FormParser(HTMLParser):
    """The successful controls of all forms of a page, as the HTML standard counts them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.posted: dict[str, list[str]] = {}
        self._area: str | None = None
        self._text = ""
        self._select: str | None = None
        self._is_multiple = False
        self._options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("name") or ""
        if tag == "input" and name:
            self._input(name, given)
        elif tag == "textarea":
            self._area, self._text = name, ""
        elif tag == "select":
            self._select, self._options, self._is_multiple = name, [], "multiple" in given
        elif tag == "option":
            self._options.append((given.get("value") or "", "selected" in given))

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._area:
            # The parser of HTML drops one line end at the beginning; line ends are posted as CRLF.
            text = re.sub(r"\r\n|\r", "\n", self._text).removeprefix("\n")
            self.posted.setdefault(self._area, []).append(text.replace("\n", "\r\n"))
        elif tag == "select" and self._select:
            chosen = [value for value, selected in self._options if selected]
            first = [] if self._is_multiple else [value for value, _ in self._options[:1]]
            self.posted.setdefault(self._select, []).extend(chosen or first)

    def _input(self, name: str, given: dict[str, Any]) -> None:
        kind = given.get("type", "text")
        if kind in ("checkbox", "radio") and "checked" not in given:
            return
        if kind not in ("submit", "button", "file", "image"):
            value = given.get("value") or ("on" if kind == "checkbox" else "")
            self.posted.setdefault(name, []).append(re.sub(r"[\r\n]", "", value))


def posted_unchanged(page: str) -> dict[str, list[str]]:
    parser = FormParser()
    parser.feed(page)
    return parser.posted
