"""A title that the model makes from the first answer, for those who asked for one.

It is one short request beside the conversation; what it cost is booked with the session. A title that
the person chose is never overwritten, and nothing of a temporary session is sent for it.
"""

import structlog
from asgiref.sync import sync_to_async

from sessions_app.errors import PipewebError
from sessions_app.gemini.gateway import Gateway
from sessions_app.markup import plain
from sessions_app.models import Run, Session, Turn
from sessions_app.models.session import TITLE_LENGTH
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, model_text, user_task
from sessions_app.runs.compose import compose

WISH = (
    "Write a summary of the conversation above as its title: at most six words, in the language of the "
    "conversation, no quotation marks, no full stop. Give only the title."
)
CAP = 2_000
"""Characters of the question and of the answer that are sent for it."""

WORDS = 10

log = structlog.get_logger("pipeweb.runs")


async def improve_title(gateway: Gateway, run: Run) -> str:
    """The new title of the run's session; empty when it keeps the one it has."""
    session, material = await sync_to_async(_material)(run)
    if not material:
        return ""
    try:
        composed = await compose(gateway, session, material, WISH)
    except PipewebError as error:
        # The first words stay: a title is not worth an error in a person's way.
        log.info("title_not_made", kind=type(error).__name__)
        return ""
    return await sync_to_async(_keep)(session, composed.text)


def _material(run: Run) -> tuple[Session, list[TurnValue]]:
    """What the title is made from; nothing when none is wanted, or not now."""
    session = run.session
    wants = session.options.auto_title == "model" and not session.temporary and run.trigger is not None
    if not wants or run.trigger is None or run.trigger.depth:
        return session, []
    answers = Turn.objects.filter(run=run, kind=TurnKind.MODEL_RESPONSE).order_by("-depth")
    answer = answers.values_list("text", flat=True).first()
    if not answer or Session.objects.filter(pk=session.pk, titled_by_hand=True).exists():
        return session, []
    return session, [user_task("title", run.trigger.text[:CAP]), model_text("title", answer[:CAP])]


def _keep(session: Session, text: str) -> str:
    title = " ".join(plain(text.strip().partition("\n")[0]).split()[:WORDS])[:TITLE_LENGTH].rstrip(".")
    untouched = Session.objects.filter(pk=session.pk, titled_by_hand=False)
    return title if title and untouched.update(title=title) else ""
