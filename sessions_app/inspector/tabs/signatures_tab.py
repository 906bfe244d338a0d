"""The signatures tab: the traces of all signatures of an exchange."""

from collections.abc import Mapping
from dataclasses import dataclass

from sessions_app.inspector.received_signatures import received_traces
from sessions_app.inspector.signature_trace import SHOWN, SignatureTrace
from sessions_app.inspector.signature_tracers import SentSignatureTracer
from sessions_app.inspector.tabs.base import Tab
from sessions_app.models import Exchange


@dataclass(frozen=True, slots=True)
class ShownSignatures:
    """`sent` is in the order of the request; the page shows the newest, unless `whole`."""

    received: list[SignatureTrace]
    sent: list[SignatureTrace]
    whole: bool = False

    @property
    def alarms(self) -> list[SignatureTrace]:
        return [trace for trace in (*self.received, *self.sent) if trace.state.is_alarm]

    @property
    def newest(self) -> list[SignatureTrace]:
        """The newest, and every alarm."""
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

    def read(self, exchange: Exchange, params: Mapping[str, str]) -> ShownSignatures:
        whole = params.get("all") == "1"
        return ShownSignatures(received_traces(exchange), SentSignatureTracer(exchange).traces(), whole)
