"""What one preparation of a request knows so far, and what each stage says it did."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, Self

from sessions_app.gemini.capabilities import Capabilities
from sessions_app.gemini.gateway import Gateway
from sessions_app.gemini.routes import route_to
from sessions_app.models import Exchange, Run, Session, SessionSettings
from sessions_app.prompt.caching import CachePlan
from sessions_app.prompt.detach import SEED, Thresholds
from sessions_app.prompt.layers import HistoryChunk, Layers, StaticSources
from sessions_app.prompt.panels import Panel
from sessions_app.prompt.payload import Payload
from sessions_app.prompt.signatures import Finding, Note
from sessions_app.prompt.strategy import Strategy
from sessions_app.prompt.turns import Turn
from sessions_app.runs.pipeline.past import Past
from sessions_app.tools import Toolbox

Status = Literal["ok", "nothing", "noticed", "repaired", "fallback", "blocked"]
"""How a stage ended: done; nothing to do; done, with something to know; mended; the original text
was used; nothing may be sent."""


@dataclass(frozen=True, slots=True)
class Door:
    """Who will answer: the facts of the gateway that a request depends on."""

    route: str
    label: str
    dialect: str
    has_explicit_caches: bool
    wire_of: Callable[[str, bytes], bytes]

    @classmethod
    def of(cls, gateway: Gateway) -> Self:
        return cls(
            gateway.route, gateway.label, gateway.dialect, gateway.has_explicit_caches, gateway.wire_of
        )

    def sent_sha256(self, payload: Payload) -> str:
        """Of the bytes that travel; empty when they are the payload's own."""
        travelling = self.wire_of(payload.model, payload.body)
        return "" if travelling == payload.body else sha256(travelling).hexdigest()


@dataclass(frozen=True, slots=True)
class Report:
    """What a stage says: what came in, what went out, in words, and a line for each thing to know."""

    came_in: str
    came_out: str
    status: Status = "ok"
    details: tuple[str, ...] = ()


@dataclass(slots=True)
class Work:
    """One request being prepared. Each stage reads what is there and adds its own.

    `layers`, `strategy`, `plan` and `payload` do not exist before their stage has run. `named` are the
    caches that the session's last requests named, `past` its newest answers. `has_notices` and
    `is_limited` are false where it is known that no notification is open and that the person has no budget.
    """

    run: Run
    step: int
    door: Door
    toolbox: Toolbox
    session: Session
    options: SessionSettings
    capabilities: Capabilities
    resend_of: Exchange | None = None

    chunks: tuple[HistoryChunk, ...] = ()
    turns: tuple[Turn, ...] = ()
    panels: tuple[Panel, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)
    static: StaticSources = field(default_factory=StaticSources)
    layers: Layers = field(init=False)
    fingerprint: str = ""
    plan: CachePlan = field(init=False)
    payload: Payload = field(init=False)
    notes: list[Note | Finding] = field(default_factory=list)
    thresholds: Thresholds = SEED
    strategy: Strategy = field(init=False)
    named: frozenset[str] = frozenset()
    cache_policy: str = ""
    cache_mode: str = ""
    strategy_reason: str = ""
    warning: str = ""
    """What the person should know about their budgets."""
    records: list[dict[str, Any]] = field(default_factory=list)
    served: str = ""
    past: Past = field(default_factory=Past)
    has_notices: bool = True
    is_limited: bool = True

    @property
    def route(self) -> str:
        """Whose signatures and caches hold for this request: the door and the model behind the name."""
        return route_to(self.door.route, self.capabilities.family)

    @property
    def tools(self) -> list[str]:
        """Names of the tools on offer in this session."""
        return self.toolbox.enabled(self.session.chosen_tools)
