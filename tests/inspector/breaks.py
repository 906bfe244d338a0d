"""An exchange whose request leaves the one before it."""

from typing import Any

from sessions_app.models import Exchange, Session
from sessions_app.runs.comparison import compare_with_previous
from tests.factories import finish, make_exchange, make_run


def broken_exchange(session: Session, *, purpose: str, **facts: Any) -> Exchange:
    """A second request with another purpose: `facts` are its columns."""
    session.purpose = "Book <b>flights</b>."
    first = make_exchange(make_run(session))
    finish(first.run)
    session.purpose = purpose
    second = make_exchange(make_run(session), previous=first, **facts)
    finish(second.run)
    compare_with_previous(second)
    second.save()
    return second
