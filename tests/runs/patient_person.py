"""A person whose messages to an unkind provider each have an answer, or an end that has a name."""

from random import Random

from django.contrib.auth.models import User

from sessions_app import errors
from sessions_app.audit.audit import audit_session
from sessions_app.audit.session_money import audit_money
from sessions_app.error_codes import RefusalCode
from sessions_app.management.commands.audit import of_spending
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Run
from sessions_app.prompt.reply import Outcome
from sessions_app.wording.refusals import stored_error_texts
from tests.runs.session_owner import SessionOwner
from tests.runs.unkind_provider import UnkindProvider

LIFE = 4_000
"""Seconds after which a cache is over that nobody extended."""


class PatientPerson(SessionOwner):
    """Sends messages one after another, and a plain one after each that got no answer."""

    def __init__(self, seed: int, owner: User) -> None:
        rng = Random(seed)
        self.provider = UnkindProvider(seed)
        super().__init__(rng, owner, self.provider)

    def live(self) -> None:
        for _ in range(self.rng.randint(4, 7)):
            if self.rng.random() < 0.1:
                self.provider.skip(LIFE)
            self.send(self.rng.randint(0, 2), self.rng.randint(1, 3))
            if not self.has_answer() and self.rng.random() < 0.5:
                self.go_on()
            if not self.has_answer():
                self.send_plain()

    def send_plain(self) -> None:
        self.provider.be_kind(True)
        self.send(0, 1)
        assert self.has_answer()
        self.provider.be_kind(False)

    def has_answer(self) -> bool:
        """Whether the newest run has; one that has none has a named end."""
        run = self.newest_run()
        if run.status == Run.Status.COMPLETED:
            assert run.turns.filter(kind="model_response").exists()
            return True
        assert run.status == Run.Status.FAILED and is_named(run), (run.status, run.error)
        return False

    def newest_run(self) -> Run:
        run = self.session.runs.order_by("-pk").first()
        assert run is not None
        return run

    def check(self) -> None:
        self.check_messages()
        self.check_tools()
        assert not list(self.provider.contradictions(self.session))
        assert not list(audit_session(self.session.pk, "audited"))
        shown = shown_session(self.session)
        assert not list(audit_money(self.session.pk, "audited", shown, ahead=self.provider.ahead))
        assert not list(of_spending())


def is_named(run: Run) -> bool:
    """Whether the stored error is of our tree, with a code or a provider's status, and has its sentence."""
    error = run.error
    kind = getattr(errors, str(error.get("kind")), None)
    if kind is None or not stored_error_texts(error)[0]:
        return False
    if issubclass(kind, errors.GatewayError):
        return kind is not errors.GatewayError
    return error.get("reason") in {*RefusalCode, *Outcome}
