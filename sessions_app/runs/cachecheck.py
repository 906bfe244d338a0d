"""Checks whether the current code and prompts reproduce a session's last request.

The request is prepared again with the same turns and clock and without new history chunks, then compared
item by item as in the ledger. Nothing is sent or stored.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from django.db import transaction

from sessions_app.context.model_lookup import facts_of
from sessions_app.errors import PipewebError
from sessions_app.gemini.routes import route_to
from sessions_app.models import Exchange, SentItem, Session, Turn
from sessions_app.prompt.caching import CacheAction, CachePlan, PlanReason
from sessions_app.prompt.layers import Layer
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.prompt.prompt_comparison import compare_prompts
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.routes import endpoint_of
from sessions_app.runs.comparison import with_numbers
from sessions_app.runs.request.context import RequestContext, StageLog
from sessions_app.runs.request.endpoint import Endpoint
from sessions_app.runs.request.prepare import assemble_layers
from sessions_app.runs.request.prepare import check as check_request
from sessions_app.runs.request.stages import snapshot
from sessions_app.tools import Toolbox
from sessions_app.wording.refusals import error_texts

STATE_SOURCES = ("panel:", "clock")
"""Prefixes of sources whose content changes without a change of code or prompts."""


class Unknown(StrEnum):
    """Why nothing can be said of a session."""

    CAPTURED = "captured"
    PURGED = "purged"


@dataclass(frozen=True, slots=True)
class PrefixCheck:
    """The result for one session. Tokens are estimates.

    `unknown`: why there is no result.
    `problem`: why the request could not be prepared. `moved_on`: state sources with new content, which is
    no change of code. `broken`: the first other difference.
    """

    session: str
    title: str
    exchange: int = 0
    unknown: Unknown | None = None
    tokens: int = 0
    static_tokens: int = 0
    prefix_tokens: int = 0
    static_same: bool = True
    problem: str = ""
    moved_on: tuple[str, ...] = ()
    broken: BreakLine | None = None

    @property
    def is_changed(self) -> bool:
        return bool(self.problem) or self.broken is not None

    def stored(self) -> dict[str, Any]:
        return asdict(self) | {"changed": self.is_changed}


def check_session(session: Session, toolbox: Toolbox, *, strict: bool = False) -> PrefixCheck:
    """Checks the last request with a counted prompt whose payload is kept.

    `strict` counts changed panels as a change. Runs in a transaction that is rolled back, since stages write.
    """
    nothing = PrefixCheck(str(session.public), session.shown_title)
    if session.is_captured:
        return replace(nothing, unknown=Unknown.CAPTURED)
    counted = session.exchanges.filter(prompt_tokens__gt=0).order_by("number")
    last = counted.filter(payload_purged_at=None).last()
    if last is None:
        return replace(nothing, unknown=Unknown.PURGED) if counted.exists() else nothing
    check = replace(nothing, exchange=last.number)
    with transaction.atomic():
        try:
            items: Sequence[Item] = rebuild_items(last, session, toolbox)
        except PipewebError as error:
            return replace(check, problem=" ".join(filter(None, error_texts(error))))
        finally:
            transaction.set_rollback(True)
    return compare(check, last.sent_items(), items, strict=strict)


def rebuild_items(last: Exchange, session: Session, toolbox: Toolbox) -> tuple[Item, ...]:
    """The items of the payload that the current code makes for the exchange's trigger."""
    run = last.run
    run.session = session
    session.model, session.head_id = last.model, trigger_of(last)
    endpoint = Endpoint(
        route=endpoint_of(last.route),
        label=last.provider,
        dialect=last.dialect,
        has_explicit_caches=False,
        wire_body=lambda _, body: body,
    )
    served = served_before(last, endpoint.route)
    facts = facts_of(last.model, served)
    context = RequestContext(
        run, last.step, endpoint, toolbox, session, session.options, facts, served=served
    )
    # The other stages would make new decisions instead of repeating the old ones.
    layers = assemble_layers(context, StageLog(), snapshot(context).value).layers
    payload, _ = check_request(context, layers, CachePlan(CacheAction.NONE, "", PlanReason.UNKNOWN)).value
    return payload.items


def served_before(exchange: Exchange, endpoint: str) -> str:
    """The serving model known when the request was sent, before its own answer."""
    plain = route_to(endpoint, facts_of(exchange.model, day=exchange.started_at.date()).family)
    return "" if plain == exchange.route else exchange.served_model


def trigger_of(exchange: Exchange) -> int | None:
    """The turn that the request ended with."""
    name = exchange.sent_items()[-1].source.name
    turns = Turn.objects.filter(session=exchange.session_id, public=name.partition(":")[2])
    return turns.values_list("pk", flat=True).first()


def compare(
    check: PrefixCheck, sent: Sequence[SentItem], items: Sequence[Item], *, strict: bool
) -> PrefixCheck:
    """Compares the sent items with the new ones.

    When a panel changed, the dynamic layer is skipped unless `strict`.
    """
    moved = changed_state(sent, items)
    if moved and not strict:
        sent = [one for one in sent if one.layer is not Layer.DYNAMIC]
        items = [one for one in items if one.layer is not Layer.DYNAMIC]
    found = compare_prompts([*map(_sent_item, sent)], [*map(_new_item, items)])
    static = [(one.layer is Layer.STATIC, one.source) for one in sent]
    session = sent[0].source.session_id if sent else 0
    return replace(
        check,
        tokens=sum(source.tokens for _, source in static),
        static_tokens=sum(source.tokens for is_static, source in static if is_static),
        prefix_tokens=found.shared.tokens,
        static_same=[source.blob.sha256 for is_static, source in static if is_static]
        == [one.sha256 for one in items if one.layer is Layer.STATIC],
        moved_on=tuple(moved),
        broken=with_numbers(session, found.broken) if found.broken else None,
    )


def changed_state(sent: Sequence[SentItem], items: Sequence[Item]) -> list[str]:
    """State sources that are new, gone or changed."""
    was = {(one.source.name, one.source.blob.sha256) for one in sent}
    now = {(one.source, one.sha256) for one in items}
    return sorted({name for name, _ in was ^ now if name.startswith(STATE_SOURCES)})


def _sent_item(one: SentItem) -> PromptItem:
    source, body = one.source, one.wire
    facts = (one.layer.value, source.name, source.role, source.kind, source.blob.sha256, source.tokens)
    return PromptItem(*facts, len(body), lambda: body)


def _new_item(one: Item) -> PromptItem:
    facts = (one.layer.value, one.source, one.role, one.kind, one.sha256, one.tokens)
    return PromptItem(*facts, len(one.wire), lambda: one.wire, one.start)
