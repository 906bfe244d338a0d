"""What a tab is: one reading of one exchange, made from rows only."""

from typing import Any, ClassVar

from sessions_app.models import Exchange


class Tab:
    """A tab shows what `context` reads from the rows of an exchange through its own template.

    Adding one: a file here, a template `inspector/tabs/<id>.html`, an entry in `TABS`, a test file.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    has_raw: ClassVar[bool] = False
    """Whether the tab also has a view of the bytes as they were."""

    @property
    def template(self) -> str:
        return f"inspector/tabs/{self.id}.html"

    def context(self, exchange: Exchange, *, raw: bool) -> Any:
        """The value the template knows as `shown`."""
        raise NotImplementedError
