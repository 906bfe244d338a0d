"""Numbers of exchanges, which count from 1 in their session."""

from typing import TYPE_CHECKING, Any

from sessions_app.errors import RunEnded
from sessions_app.models.prepared import Change, parameter

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from sessions_app.models.run import Run


def take_number(run: "Run") -> int:
    """The next number of the run's session, which is stored; the run is held as by `RunQuerySet.hold`.

    One statement for both. Raises RunEnded.
    """
    session = run.session
    number = session.exchange_count + 1
    if not _numbered.run(run=run.pk, exchange_count=number):
        raise RunEnded
    session.exchange_count = number
    return number


def _numbering() -> "tuple[QuerySet[Any], dict[str, Any]]":
    from sessions_app.models.run import RUN, Run
    from sessions_app.models.session import Session

    held = Run.objects.active().filter(pk=RUN).select_for_update(no_key=True)
    changes = {"exchange_count": parameter(Session, "exchange_count")}
    return Session.objects.filter(pk__in=held.values("session")), changes


_numbered = Change(_numbering)
