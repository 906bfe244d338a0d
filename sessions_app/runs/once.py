"""A command that a page sends again under the same id begins one run."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from sessions_app.errors import OverLimit, SessionBusy
from sessions_app.models import Run

Given = ParamSpec("Given")


def is_known(session_pk: int, client_id: UUID) -> bool:
    return Run.objects.filter(session_id=session_pk, client_id=client_id).exists()


def once(
    start: Callable[Concatenate[int, UUID, Given], Run],
) -> Callable[Concatenate[int, UUID, Given], Run | None]:
    """None when `client_id` is known, also where another process has begun its run meanwhile: a page that
    lost its connection sends again what it does not know the end of.
    """

    @wraps(start)
    def begun(session_pk: int, client_id: UUID, /, *args: Given.args, **kwargs: Given.kwargs) -> Run | None:
        if is_known(session_pk, client_id):
            return None
        try:
            return start(session_pk, client_id, *args, **kwargs)
        except (SessionBusy, OverLimit):
            if is_known(session_pk, client_id):
                return None
            raise

    return begun
