"""Money that requests reserved: none is held after its request, and no request cost more than it reserved."""

from collections.abc import Iterator

from django.utils import timezone

from sessions_app.audit.differences import Difference, Figure, Finding, MoneyFigure
from sessions_app.audit.rows import Row, SessionRows
from sessions_app.models import Reservation

UNDER_WAY = ("queued", "running")


def reservation_findings(rows: SessionRows, exchange: Row) -> Iterator[Finding]:
    reserved, usd = exchange["reserved_usd"], exchange["usd"]
    if not reserved:
        return
    if exchange["ended_at"] is None and rows.runs[exchange["run_id"]]["status"] not in UNDER_WAY:
        yield Figure.RESERVED_USD, reserved, None
    if usd is not None and usd > reserved:
        yield Figure.RESERVED_USD, reserved, usd


def audit_reservations() -> Iterator[Difference]:
    """Reservations without an exchange: those of dead processes are released within a quarter of an hour."""
    for row in Reservation.objects.filter(expires_at__lte=timezone.now()).values():
        label = f"person {row['owner_id']}"
        yield Difference(label, 0, MoneyFigure.RESERVATIONS, f"{row['usd']}", f"until {row['expires_at']}")
