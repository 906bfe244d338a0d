"""What a reply says of itself, as columns of its exchange."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.utils import timezone

from sessions_app.models import Exchange
from sessions_app.models.columns import storable, storable_json
from sessions_app.prompt.answer_schema import Fit, fit_of
from sessions_app.prompt.reply import Folder, Outcome, Reply
from sessions_app.runs.reply_progress import ReplyProgress


def set_reply_facts(
    exchange: Exchange,
    reply: Reply,
    progress: ReplyProgress,
    total_ms: float | None,
    ended_at: datetime | None = None,
) -> None:
    """Does not save. Counted columns stay None without counts; `ended_at` is now where it is not given."""
    usage = reply.usage
    exchange.usage = storable_json(usage.raw)
    if usage.is_counted:
        exchange.prompt_tokens, exchange.cached_tokens = usage.prompt, usage.cached
        exchange.output_tokens, exchange.thought_tokens = usage.output, usage.thoughts
    exchange.searches = reply.searches
    exchange.served_model = storable(reply.model_version, 80)
    exchange.response_id = storable(reply.response_id, 80)
    exchange.finish_reason = storable(reply.finish_reason, 40)
    exchange.outcome = reply.outcome.value
    exchange.total_ms, exchange.first_chunk_ms = total_ms, progress.first_ms
    exchange.thought_ms, exchange.ended_at = progress.thought_ms, ended_at or timezone.now()


def fit_of_reply(schema: Mapping[str, Any] | None, reply: Reply) -> Fit | None:
    """Whether a final answer fits the schema that was sent; None without one."""
    is_final = reply.outcome.is_answer and reply.outcome is not Outcome.CALLS
    return fit_of(reply.text, schema) if schema is not None and is_final else None


def fold_hops(last: Exchange) -> Reply:
    """The answer that an exchange ends or would have gone on with, from the stored chunks of its hops. A
    captured one may hold what is no JSON, which says nothing.
    """
    hops = [last]
    while (before := hops[-1].continues) is not None:
        hops.append(before)
    folder = Folder(last.dialect)
    for hop in reversed(hops):
        folder.begin_hop()
        for body in hop.chunks.values_list("body", flat=True):
            with suppress(ValueError):
                folder.add(bytes(body))
    return folder.reply()
