"""The context and the stage log that the stages of a request share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any, Generic, ParamSpec, Self, TypeVar

from sessions_app.context.model_lookup import facts_of
from sessions_app.errors import RequestRefused
from sessions_app.gemini.model_capabilities import Capabilities
from sessions_app.gemini.routes import route_to
from sessions_app.models import Exchange, Run, Session, SessionSettings
from sessions_app.prompt.answer_schema import parsed
from sessions_app.prompt.provider_tools import Offer, Support, offer
from sessions_app.prompt.remarks import Remark
from sessions_app.prompt.stage_records import StageFigures, StageName, StageRecord, StageStatus
from sessions_app.prompt.strategy import Strategy
from sessions_app.rendering.renderer import RenderTime
from sessions_app.runs.budgets import Spender
from sessions_app.runs.request.endpoint import Endpoint
from sessions_app.runs.request.recent import RecentExchanges, recent_exchanges
from sessions_app.runs.request.session_reading import session_of
from sessions_app.tools import Toolbox

Value_co = TypeVar("Value_co", covariant=True)
Arguments = ParamSpec("Arguments")


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """What the later requests of a run keep of its first one, so that its prefix stays the same.

    `named` are the caches that requests before the run named; `newest_chunk` is 0 without history chunks.
    """

    strategy: Strategy
    named: frozenset[str]
    newest_chunk: int


# No slots here: the cached properties need the instance dictionary.
@dataclass(frozen=True)
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

    @cached_property
    def offer(self) -> Offer:
        """What of the provider's tools, functions and the answer's schema the request asks for."""
        support = Support(
            self.capabilities.own_tools,
            self.capabilities.mixes_tools,
            is_gemini=self.endpoint.dialect == "gemini",
        )
        return offer(
            self.options.provider_tools,
            support,
            has_schema=self.answer_schema is not None,
            has_functions=bool(self._chosen),
        )

    @cached_property
    def answer_schema(self) -> dict[str, Any] | None:
        """The schema that the session has, whether it is sent or not."""
        return parsed(self.options.answer_schema)

    @property
    def sent_schema(self) -> dict[str, Any] | None:
        return self.answer_schema if self.offer.has_schema else None

    @cached_property
    def _chosen(self) -> list[str]:
        return self.toolbox.enabled(self.session.chosen_tools)

    @property
    def tools(self) -> list[str]:
        """Names of the session's tools that the request declares."""
        return self._chosen if self.offer.has_functions else []


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
