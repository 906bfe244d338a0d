"""The passports of every signature in this exchange."""

from collections.abc import Mapping
from dataclasses import dataclass

from sessions_app.inspector.origins import Origins
from sessions_app.inspector.passports import SHOWN, Passport
from sessions_app.inspector.returns import Returns
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange


@dataclass(frozen=True, slots=True)
class ShownSignatures:
    """`sent` is in the order of the request; a page shows its newest, unless `whole`."""

    received: list[Passport]
    sent: list[Passport]
    whole: bool = False

    @property
    def alarms(self) -> list[Passport]:
        return [passport for passport in (*self.received, *self.sent) if passport.state.is_alarm]

    @property
    def newest(self) -> list[Passport]:
        """What the page shows: the newest, and every alarm."""
        if self.whole:
            return self.sent
        first = max(0, len(self.sent) - SHOWN)
        return [one for at, one in enumerate(self.sent) if at >= first or one.state.is_alarm]

    @property
    def older(self) -> int:
        return len(self.sent) - len(self.newest)


class SignaturesTab(Tab):
    id = "signatures"
    title = "Signatures"

    def read(self, exchange: Exchange, asked: Mapping[str, str]) -> ShownSignatures:
        whole = asked.get("all") == "1"
        return ShownSignatures(Returns(exchange).passports(), Origins(exchange).passports(), whole)
