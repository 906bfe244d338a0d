"""One request at one route: what the path and the query say."""

from dataclasses import dataclass

from sessions_app.emulator.catalogue import Model, find_model
from sessions_app.emulator.exchange import Request
from sessions_app.emulator.journal import Entry
from sessions_app.emulator.refusals import invalid, unknown_model

_DEFAULT_PAGE, _LARGEST_PAGE = 50, 1_000
_LONGEST_NUMBER = 9


@dataclass(frozen=True, slots=True)
class Visit:
    """`name` is what the route found in the path: a model's or a cache's name, or ""."""

    request: Request
    entry: Entry
    version: str
    name: str = ""

    @property
    def wants_events(self) -> bool:
        return self.request.query.get("alt") == "sse"

    @property
    def page_size(self) -> int:
        asked = self._whole_number("pageSize")
        return min(asked or _DEFAULT_PAGE, _LARGEST_PAGE)

    @property
    def page_start(self) -> int:
        """A page token is the index of the page's first entry."""
        return self._whole_number("pageToken")

    def model(self, method: str, name: str = "") -> Model:
        """Raises Refusal (404) for a model that does not exist or lacks the method."""
        wanted = (name or self.name).removeprefix("models/")
        model = find_model(wanted)
        if model is None or not model.offers(method):
            raise unknown_model(wanted, self.version, method)
        return model

    def _whole_number(self, name: str) -> int:
        text = self.request.query.get(name, "") or "0"
        if not (text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER):
            raise invalid(f"Invalid value at '{name}' (TYPE_INT32), \"{text}\"")
        return int(text)
