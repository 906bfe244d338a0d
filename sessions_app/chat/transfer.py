"""Export sessions as JSON or Markdown."""

from collections.abc import Mapping
from uuid import UUID

from django.utils import timezone

from sessions_app.chat.answer_markdown import told
from sessions_app.chat.citations import ShownCitations
from sessions_app.chat.transcript import Transcript
from sessions_app.chat.transfer_format import (
    Export,
    ExportedExchange,
    ExportedRun,
    ExportedSession,
    ExportedTurn,
)
from sessions_app.models import Run, Session, Turn
from sessions_app.panels.row_transfer import export_rows
from sessions_app.wording import verdicts


def export_session(session: Session) -> bytes:
    """The complete tree as JSON, in a constant number of queries.

    What is added while it is read is left out: a run whose message, an exchange whose run is not among them.
    """
    turns = list(session.turns.select_related("content").order_by("pk"))
    publics = {turn.pk: turn.public for turn in turns}
    begun = session.runs.order_by("pk")
    runs = [run for run in begun if run.trigger_id is None or run.trigger_id in publics]
    names = {run.pk: run.public for run in runs}
    return (
        Export.model_construct(
            exported_at=timezone.now(),
            session=_session(session, publics),
            turns=[_turn(turn, publics, names) for turn in turns],
            runs=[_run(run, publics) for run in runs],
            exchanges=_exchanges(session, names),
            panels=export_rows(session),
        )
        .model_dump_json(indent=1, warnings=False)
        .encode()
    )


def export_markdown(session: Session) -> str:
    """The branch in view as Markdown."""
    lines = [f"# {session.shown_title}", f"{session.model}, {session.created_at:%Y-%m-%d}"]
    for view in Transcript.full(session.head).runs:
        files = *(file.title for file in view.files), *(file.path for file in view.opened)
        lines += ["## You", *(f"*Attached: {name}*" for name in files), view.text] if view.task else []
        for step in view.steps:
            text = told(step.turn).markdown.strip()
            lines += ["## Model", text] if text else []
            lines += [_sources(step.cited)] if step.cited and step.cited.sources else []
            lines += [_card(card.name, card.args, card.response) for card in step.cards]
            lines += ["## You", step.beside] if step.beside else []
    return "\n\n".join(lines) + "\n"


def _sources(cited: ShownCitations) -> str:
    lines = (f"{one.number}. {one.title} {one.address and f'<{one.address}>'}" for one in cited.sources)
    return "\n".join(["Sources:", "", *map(str.rstrip, lines)])


def _card(name: str, args: str, response: str) -> str:
    return f"Tool `{name}`:\n\n~~~json\n{args}\n~~~\n\n~~~json\n{response}\n~~~"


def _session(session: Session, publics: Mapping[int, UUID]) -> ExportedSession:
    return ExportedSession.model_construct(
        title=session.title,
        titled_by_hand=session.titled_by_hand,
        purpose=session.purpose,
        background=session.background,
        roles=[role.name for role in session.roles.all()],
        procedure=session.procedure.name if session.procedure else "",
        assistant=session.assistant.name if session.assistant else "",
        model=session.model,
        settings=session.settings,
        args=session.args,
        head=publics.get(session.head_id or 0),
        created_at=session.created_at,
    )


def _turn(turn: Turn, publics: Mapping[int, UUID], runs: Mapping[int, UUID]) -> ExportedTurn:
    return ExportedTurn.model_construct(
        key=turn.public,
        parent=publics.get(turn.parent_id or 0),
        content=turn.wire,
        run=runs.get(turn.run_id or 0),
        origin=publics.get(turn.origin_id or 0),
        created_at=turn.created_at,
        **turn.marks_elsewhere,
    )


def _run(run: Run, publics: Mapping[int, UUID]) -> ExportedRun:
    return ExportedRun.model_construct(
        key=run.public,
        trigger=publics.get(run.trigger_id or 0),
        status=run.status,
        outcome=run.outcome,
        error=run.error,
        now=run.now,
        ended_at=run.ended_at,
        continuations=run.continuations,
    )


def _exchanges(session: Session, runs: Mapping[int, UUID]) -> list[ExportedExchange]:
    names = ExportedExchange.model_fields.keys() - {"run", "usd", "verdict_sentence"}
    return [
        ExportedExchange(
            run=runs[exchange.run_id],
            usd=None if exchange.usd is None else str(exchange.usd),
            verdict_sentence=verdicts.sentence(
                exchange.found_verdict, exchange.earlier("verdict"), is_captured=exchange.is_captured
            ),
            **{name: getattr(exchange, name) for name in names},
        )
        for exchange in session.exchanges.defer("manifest", "stages", "notes")
        if exchange.run_id in runs
    ]
