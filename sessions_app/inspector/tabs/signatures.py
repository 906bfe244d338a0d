"""The passports of every signature in this exchange."""

from dataclasses import dataclass

from sessions_app.inspector.origins import Origins
from sessions_app.inspector.passports import LOOK_AHEAD, NEWEST, Passport
from sessions_app.inspector.returns import Returns
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange


@dataclass(frozen=True, slots=True)
class ShownSignatures:
    received: list[Passport]
    sent: list[Passport]
    untraced: int
    look_ahead: int = LOOK_AHEAD
    newest: int = NEWEST

    @property
    def alarms(self) -> list[Passport]:
        return [passport for passport in (*self.received, *self.sent) if passport.state.is_alarm]


class SignaturesTab(Tab):
    id = "signatures"
    title = "Signatures"

    def context(self, exchange: Exchange, *, raw: bool) -> ShownSignatures:
        origins = Origins(exchange)
        return ShownSignatures(Returns(exchange).passports(), origins.passports(), origins.untraced)
