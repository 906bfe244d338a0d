"""What a tab is: one reading of one exchange, made from rows only."""

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
    """Whether the tab also has a view of the bytes as they were."""
    follows: ClassVar[Literal["always", "end", "never"]] = "end"
    """When an open page shows it anew: while the answer comes, at its end, or never. What a reader has
    opened closes when it is shown anew."""

    @property
    def template(self) -> str:
        return f"inspector/tabs/{self.id}.html"

    def read(self, exchange: Exchange, asked: Mapping[str, str]) -> Any:
        """The value the template knows as `shown`; `asked` are the parameters of the address.

        Raises Http404 for a parameter that names nothing.
        """
        return self.context(exchange, raw=asked.get("view") == "raw")

    def context(self, exchange: Exchange, *, raw: bool) -> Any:
        """What a tab without parameters of its own shows."""
        raise NotImplementedError
