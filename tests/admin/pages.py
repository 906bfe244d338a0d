"""Pages of the admin, who opens them, and a session whose content they must not show."""

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from sessions_app.models import Exchange, Run, Session
from tests.factories import answer_calls, call_chunk, make_exchange, make_run, make_session

MARKER = "XYZZY-SECRET"


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def list_of(name: str) -> str:
    return reverse(f"admin:sessions_app_{name}_changelist")


def detail_of(name: str, pk: int) -> str:
    return reverse(f"admin:sessions_app_{name}_change", args=[pk])


def marked_session(owner: User) -> Session:
    """A session that says the marker wherever a person, a model or a provider can."""
    session = make_session(owner, title=MARKER, purpose=MARKER, background=MARKER)
    run = make_run(session, MARKER)
    make_exchange(run, [call_chunk(MARKER, {"said": MARKER}, finish="STOP")])
    answer_calls(run, {"found": MARKER})
    error = {"kind": "BadRequest", "code": 400, "message": MARKER, "hint": MARKER}
    exchange = make_exchange(
        run, step=2, earlier_wording={"verdict": MARKER}, plan_figures={"refusal": MARKER}
    )
    Exchange.objects.filter(pk=exchange.pk).update(error=error, notes=[{"words": MARKER}])
    Run.objects.filter(pk=run.pk).update(error=error)
    return session
