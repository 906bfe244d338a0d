"""The context, the stage log and the recent exchanges that the stages of a request share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from typing import Any, Generic, NamedTuple, ParamSpec, Self, TypeVar

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from sessions_app.context.model_lookup import facts_of, newest_served
from sessions_app.errors import RequestRefused
from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.gemini.routes import route_to
from sessions_app.models import CacheRefusal, Exchange, Run, Session, SessionSettings
from sessions_app.models.prepared import Reading
from sessions_app.prompt.remarks import Remark
from sessions_app.prompt.rollover import PastExchange
from sessions_app.prompt.stage_records import StageFigures, StageName, StageRecord, StageStatus
from sessions_app.prompt.strategy import Strategy
from sessions_app.rendering.renderer import RenderTime
from sessions_app.runs.budgets import Spender
from sessions_app.runs.request.endpoint import Endpoint
from sessions_app.runs.request.session_reading import SESSION, session_of
from sessions_app.tools import Toolbox

Value_co = TypeVar("Value_co", covariant=True)
Arguments = ParamSpec("Arguments")

RECENT_LIMIT = 8
"""Number of exchanges that are read."""


class RecentExchange(NamedTuple):
    """An answered exchange; `prompt` is None without usage.

    `refusal` is the current refusal of explicit caches for its route and model, if any.
    """

    pk: int
    run: int
    model: str
    served: str
    at: datetime
    route: str
    prompt: int | None
    cached: int | None
    cache_name: str
    layers: Mapping[str, int]
    refusal: str | None


@dataclass(frozen=True, slots=True)
class RecentExchanges:
    """The newest answered exchanges of a session, newest first."""

    exchanges: tuple[RecentExchange, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether these are all answered exchanges of the session."""
        return len(self.exchanges) < RECENT_LIMIT

    @property
    def counted_exchanges(self) -> list[PastExchange]:
        """Those with usage, oldest first."""
        return [
            PastExchange(one.at, one.route, one.prompt, one.cached or 0, one.cache_name, one.layers)
            for one in reversed(self.exchanges)
            if one.prompt is not None
        ]

    def caches_of(self, run_pk: int) -> frozenset[str]:
        """The caches that requests of this run named."""
        return frozenset(one.cache_name for one in self.exchanges if one.run == run_pk and one.cache_name)

    def counted(self, **fields: int | None) -> int | None:
        """Key of the newest exchange with a counted prompt and these fields."""
        found = (one for one in self.exchanges if one.prompt)
        return next((one.pk for one in found if _matches(one, fields)), None)

    def refusal(self, route: str, model: str) -> str:
        """The refusal of explicit caches; a query only when no recent exchange used route and model."""
        for one in self.exchanges:
            if (one.route, one.model) == (route, model):
                return one.refusal or ""
        lesson = CacheRefusal.objects.of(route, model) if self.exchanges else None
        return lesson.refusal(timezone.now()) if lesson else ""

    def served(self, session: Session, endpoint: str) -> str:
        """The `modelVersion` of the newest answer of `endpoint` for the session's model; empty without one.

        A query only when that answer is older than these exchanges.
        """
        for one in self.exchanges:
            if one.served and one.model == session.model and one.route.startswith(f"{endpoint}/"):
                return one.served
        if self.is_complete:
            return ""
        return newest_served(session, endpoint)


def recent_exchanges(session: Session) -> RecentExchanges:
    """Reads the newest answered exchanges: one query, none before the first request."""
    if not session.exchange_count:
        return RecentExchanges()
    rows = _recent.all(session=session.pk)
    return RecentExchanges(tuple(RecentExchange(*row) for row in rows))


def _recent_query() -> QuerySet[Exchange, tuple[Any, ...]]:
    refused = CacheRefusal.objects.filter(
        route=OuterRef("route"), model=OuterRef("model"), refused_until__gt=Now()
    )
    rows = (
        Exchange.objects.filter(session=SESSION)
        .exclude(prompt_tokens=None, served_model="")
        .annotate(refusal=Subquery(refused.values("said")[:1]))
        .order_by("-number")
    )
    columns = ("pk", "run_id", "model", "served_model", "started_at", "route", "prompt_tokens")
    named = rows.values_list(*columns, "cached_tokens", "cache_name", "layer_tokens", "refusal")
    return named[:RECENT_LIMIT]


_recent: Reading[tuple[Any, ...]] = Reading(_recent_query)


def _matches(one: RecentExchange, fields: Mapping[str, int | None]) -> bool:
    return all(getattr(one, name) == value for name, value in fields.items())


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """What the later requests of a run keep of its first one, so that its prefix stays the same.

    `named` are the caches that requests before the run named; `newest_chunk` is 0 without history chunks.
    """

    strategy: Strategy
    named: frozenset[str]
    newest_chunk: int


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What is known before the first stage; constant while the request is prepared.

    `first` is None in the first request of a run. `served` is the model that answered last on this
    endpoint. `has_notifications` is false when there is certainly no open notification. `is_aside`: the next
    run asks another model, so nothing is kept for later requests to this one.
    """

    run: Run
    step: int
    endpoint: Endpoint
    toolbox: Toolbox
    session: Session
    options: SessionSettings
    capabilities: Capabilities
    resend_of: Exchange | None = None
    first: FirstRequest | None = None
    served: str = ""
    recent: RecentExchanges = field(default_factory=RecentExchanges)
    has_notifications: bool = True
    render_time: RenderTime = field(default_factory=RenderTime)
    is_aside: bool = False

    @classmethod
    def read(
        cls,
        run: Run,
        step: int,
        endpoint: Endpoint,
        toolbox: Toolbox,
        resend_of: Exchange | None = None,
        *,
        first: FirstRequest | None = None,
        begun: Session | None = None,
    ) -> Self:
        """Reads the session again: two queries, one for a first request. Raises RunEnded.

        One query less with `begun`, the session as the start of the run has just read it.
        """
        session: Any = begun or session_of(run)
        run.session = session
        is_aside = _keep_choice(session, run)
        recent = recent_exchanges(session)
        served = recent.served(session, endpoint.route)
        return cls(
            run,
            step,
            endpoint,
            toolbox,
            session,
            session.options,
            facts_of(session.model, served),
            resend_of,
            first,
            served,
            recent,
            session.has_notifications,
            is_aside=is_aside,
        )

    @property
    def route(self) -> str:
        """The route of this request's signatures and caches."""
        return route_to(self.endpoint.route, self.capabilities.family)

    @property
    def spender(self) -> Spender:
        """Whose budgets apply."""
        return Spender.of(self.session, self.options)

    @property
    def tools(self) -> list[str]:
        """Names of the session's tools."""
        return self.toolbox.enabled(self.session.chosen_tools)


@dataclass(frozen=True, slots=True)
class StageResult(Generic[Value_co]):
    """The value of a stage, and the content of its record."""

    value: Value_co
    figures: StageFigures
    status: StageStatus = StageStatus.OK
    remarks: tuple[Remark, ...] = ()


class StageLog:
    """Runs stages and records each, also one that raises RequestRefused."""

    def __init__(self) -> None:
        self.records: list[StageRecord] = []

    def run(
        self,
        name: StageName,
        stage: Callable[Arguments, StageResult[Value_co]],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Value_co:
        """Returns the value of the stage. Raises RequestRefused."""
        began = perf_counter()
        try:
            result = stage(*args, **kwargs)
        except RequestRefused as error:
            refusal = Remark(code=error.reason, refused=error.figures)
            self._add(name, None, StageStatus.BLOCKED, (refusal,), began)
            raise
        self._add(name, result.figures, result.status, result.remarks, began)
        return result.value

    def stored(self) -> list[dict[str, Any]]:
        return [record.stored() for record in self.records]

    def _add(
        self,
        name: StageName,
        figures: StageFigures | None,
        status: StageStatus,
        remarks: tuple[Remark, ...],
        began: float,
    ) -> None:
        ms = round((perf_counter() - began) * 1000, 3)
        self.records.append(StageRecord(name=name, status=status, figures=figures, remarks=remarks, ms=ms))


def _keep_choice(session: Session, run: Run) -> bool:
    """Sets the model and level that the run began with; returns whether the session's model is another."""
    if not run.model:
        return False
    is_aside = run.model != session.model
    session.model = run.model
    session.settings = {**session.settings, "thinking_level": run.thinking_level}
    return is_aside
