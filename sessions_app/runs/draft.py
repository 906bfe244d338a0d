"""From rows to a request: everything one exchange needs, built and recorded before the call.

All of it runs in the database thread, so that assembling a long history never stops the streams
of other people.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from time import perf_counter
from typing import Self

from django.utils import timezone

from sessions_app.context.clock import rounded
from sessions_app.context.panels import collect_panels
from sessions_app.context.static import static_sources
from sessions_app.context.workspaces import workspace_of
from sessions_app.gemini.capabilities import Capabilities, capabilities_of
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import CacheEntry, Exchange, Run, Session, SessionSettings, Turn
from sessions_app.prompt import caching, signatures
from sessions_app.prompt.caching import CachePlan
from sessions_app.prompt.layers import Layers, build_layers
from sessions_app.prompt.payload import GenerationConfig, Payload, assemble, static_tokens
from sessions_app.prompt.structure import verify
from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.tools import Toolbox


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
class Draft:
    """A request that is recorded and ready to be sent."""

    exchange: Exchange
    payload: Payload
    layers: Layers
    plan: CachePlan
    fingerprint: str


def prepare(run: Run, step: int, door: Door, toolbox: Toolbox, *, resend_of: Exchange | None = None) -> Draft:
    """Builds the four layers, decides about the cache, records the exchange.

    Raises PromptError when the payload would break a rule of the wire; nothing is sent then.
    """
    began = perf_counter()
    session = run.session = Session.objects.get(pk=run.session_id)
    capabilities = capabilities_of(session.model)
    turns, dressing = signatures.dress(
        Turn.objects.values_of(session.head_id) if session.head_id else [],
        route=door.route,
        required=capabilities.signatures_required,
    )
    layers = _layers(session, run, turns, toolbox)
    fingerprint = caching.fingerprint(door.route, session.model, layers.static_text, layers.declarations)
    plan = _plan(fingerprint, layers, capabilities.explicit_minimum if door.has_explicit_caches else None)
    payload = assemble(
        layers,
        generation_config(session.options, capabilities),
        model=session.model,
        cached_content=plan.name,
    )
    findings = verify(layers.turns, required=capabilities.signatures_required)
    noted: tuple[signatures.Note | signatures.Finding, ...] = (*dressing, *findings)
    exchange = Exchange.objects.begin(
        run,
        step,
        payload,
        route=door.route,
        provider=door.label,
        dialect=door.dialect,
        sent_sha256=door.sent_sha256(payload),
        fingerprint=fingerprint,
        cache_action=plan.action,
        cache_name=plan.name,
        cache_reason=plan.reason[:300],
        notes=[asdict(note) for note in noted],
        build_ms=(perf_counter() - began) * 1000,
        resend_of=resend_of,
    )
    return Draft(exchange, payload, layers, plan, fingerprint)


def _layers(session: Session, run: Run, turns: Sequence[TurnValue], toolbox: Toolbox) -> Layers:
    options = session.options
    names = enabled_tools(options, toolbox)
    return build_layers(
        static_sources(session, names),
        collect_panels(session, workspace_of(session.owner_id)),
        rounded(run.now, options),
        turns,
        toolbox.declarations(names),
    )


def _plan(fingerprint: str, layers: Layers, minimum: int | None) -> CachePlan:
    facts = CacheEntry.facts(fingerprint, minimum)
    return caching.plan(static_tokens(layers), facts, timezone.now())


def enabled_tools(options: SessionSettings, toolbox: Toolbox) -> list[str]:
    return [name for name in toolbox.names if options.tools is None or name in options.tools]


def generation_config(options: SessionSettings, capabilities: Capabilities) -> GenerationConfig:
    return GenerationConfig(
        temperature=options.temperature if capabilities.sampling else None,
        thinking_level=options.thinking_level if options.thinking_level in capabilities.levels else "",
        include_thoughts=options.include_thoughts and capabilities.thinking != "none",
    )
