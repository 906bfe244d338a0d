"""The base class of the tabs of an exchange."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from sessions_app.models import Exchange


class Tab:
    """A tab shows what `context` reads from the rows of an exchange through its own template.

    Adding one: a file here, a template `inspector/tabs/<id>.html`, an entry in `TABS`, a test file.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    has_raw: ClassVar[bool] = False
    """Whether the tab has a raw view too."""
    needs_payload: ClassVar[bool] = True
    """Whether it shows what travelled: then it is not shown once a rule of retention purged that."""
    refresh: ClassVar[Literal["always", "end", "never"]] = "end"
    """When an open page reloads the tab: at every poll, at the end of the exchange, or never. A reload closes
    what the reader has opened."""

    @property
    def template(self) -> str:
        return f"inspector/tabs/{self.id}.html"

    def read(self, exchange: Exchange, params: Mapping[str, str]) -> Any:
        """The template's `shown`, from the GET parameters. Raises Http404 for an unknown value of one."""
        return self.context(exchange, raw=params.get("view") == "raw")

    def context(self, exchange: Exchange, *, raw: bool) -> Any:
        """`shown` for a tab without parameters of its own."""
        raise NotImplementedError
