"""From rows to a request: everything one exchange needs, built and recorded before the call.

All of it runs in the database thread, so that assembling a long history never stops the streams
of other people.
"""

from dataclasses import asdict, dataclass, field
from functools import cache
from time import perf_counter
from typing import Any

from django.db.models import Exists, OuterRef

from sessions_app.context.capabilities import facts_of
from sessions_app.errors import BudgetSpent, PromptError
from sessions_app.models import Allowance, Exchange, Notification, Run, Session
from sessions_app.prompt.caching import CachePlan
from sessions_app.prompt.layers import Layers
from sessions_app.prompt.payload import Payload
from sessions_app.runs.account import previous_of
from sessions_app.runs.pipeline import Door, Work, prepare_payload
from sessions_app.runs.pipeline.past import past_of
from sessions_app.tools import Toolbox

__all__ = ["Door", "Draft", "prepare"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A request that is recorded and ready to be sent."""

    exchange: Exchange
    payload: Payload
    layers: Layers
    plan: CachePlan
    fingerprint: str
    work: Work = field(repr=False)


def prepare(run: Run, step: int, door: Door, toolbox: Toolbox, *, resend_of: Exchange | None = None) -> Draft:
    """Runs the pipeline's stages and records the exchange.

    Raises PromptError when the payload would break a rule, BudgetSpent when there is no money left for
    it; nothing is sent then, and the run keeps the stage records.
    """
    began = perf_counter()
    work = _begun(run, step, door, toolbox, resend_of)
    try:
        prepare_payload(work)
    except (PromptError, BudgetSpent):
        Run.objects.filter(pk=run.pk).update(stages=work.records)
        raise
    return _recorded(work, began)


def _begun(run: Run, step: int, door: Door, toolbox: Toolbox, resend_of: Exchange | None) -> Work:
    """What the session's rows say; two queries, one for a first request."""
    run.session = session = _sessions().get(pk=run.session_id)
    past = past_of(session)
    served = past.served(session, door.route)
    return Work(
        run,
        step,
        door,
        toolbox,
        session,
        session.options,
        facts_of(session.model, served),
        resend_of,
        served=served,
        past=past,
        has_notices=session.has_notices,
        is_limited=session.is_limited,
    )


@cache
def _sessions() -> Any:
    """Kept, since Django takes longer to build such a query than the database to answer it."""
    return Session.objects.select_related("assistant").annotate(
        has_notices=Exists(Notification.objects.open().filter(session=OuterRef("pk"))),
        is_limited=Exists(Allowance.objects.filter(owner=OuterRef("owner"))),
    )


def _recorded(work: Work, began: float) -> Draft:
    payload, layers, plan = work.payload, work.layers, work.plan
    exchange = Exchange.objects.begin(
        work.run,
        work.step,
        payload,
        route=work.route,
        provider=work.door.label,
        dialect=work.door.dialect,
        sent_sha256=work.door.sent_sha256(payload),
        fingerprint=work.fingerprint,
        cache_action=plan.action,
        cache_name=plan.name,
        cache_reason=plan.reason[:300],
        cache_policy=work.cache_policy,
        cache_mode=work.cache_mode,
        strategy_reason=work.strategy_reason[:400],
        previous_id=previous_of(work),
        stages=work.records,
        notes=[asdict(note) for note in work.notes],
        build_ms=(perf_counter() - began) * 1000,
        resend_of=work.resend_of,
    )
    return Draft(exchange, payload, layers, plan, work.fingerprint, work)
