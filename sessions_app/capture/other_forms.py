"""Requests in another form than generateContent's: chat completions and interactions.

They belong to no session, so what they cost is in no sum: it is told of each, with the price of its day.
"""

import re
from dataclasses import replace
from typing import Any

from sessions_app.capture.captured_exchange import route_of_captured
from sessions_app.capture.framing import chunks_of
from sessions_app.capture.paths import asks_for_completion, is_of_interaction
from sessions_app.models import CapturedRequest
from sessions_app.models.captured_request import IN_OTHER_FORM, MODEL_LENGTH
from sessions_app.models.columns import storable
from sessions_app.prompt.chunks import Usage, as_count
from sessions_app.prompt.dialects.conversation import Conversation
from sessions_app.prompt.dialects.interactions_conversation import interaction_in
from sessions_app.prompt.dialects.openai_conversation import conversation_in
from sessions_app.prompt.pricing import Money, MoneySource
from sessions_app.runs.accounting import money_for, searches_of
from sessions_app.runs.money_source import source_of_response
from sessions_app.runs.serving import price_of_served
from sessions_app.wording import costs

_IN_OTHER_FORM = re.compile(IN_OTHER_FORM)


def asks_in_other_form(method: str, path: str) -> bool:
    """Whether a stored request asks a model for a chat completion or a new interaction."""
    return method == "POST" and _IN_OTHER_FORM.match(path) is not None


def conversation_of(captured: CapturedRequest, answer: bytes | None = None) -> Conversation | None:
    """What was said; None for what is no conversation. `answer`: the one received, if not stored yet."""
    if not (asks_for_completion(captured.path) or is_of_interaction(captured.path)):
        return None
    read = conversation_in if asks_for_completion(captured.path) else interaction_in
    received = captured.received_body() if answer is None else answer
    return read(captured.sent_body(), chunks_of(received).chunks)


def facts_of_answer(captured: CapturedRequest, answer: bytes) -> dict[str, Any]:
    """The columns of what asked a model: its name and what the provider counted; else empty."""
    if not asks_in_other_form(captured.method, captured.path):
        return {}
    said = conversation_of(captured, answer)
    if said is None:
        return {}
    return {"model": storable(said.model, MODEL_LENGTH)} | token_columns(said.usage)


def token_columns(usage: Usage) -> dict[str, int | None]:
    """Empty where the provider counted nothing. Two counts may be more together than a column holds."""
    if not usage.is_counted:
        return {}
    output = as_count(usage.output + usage.thoughts)
    return {"prompt_tokens": usage.prompt, "cached_tokens": usage.cached, "output_tokens": output}


def cost_of(captured: CapturedRequest, said: Conversation) -> str:
    """What a request cost, as a sum; empty where no model was asked or nothing was counted."""
    if not (said.usage.is_counted and asks_in_other_form(captured.method, captured.path)):
        return ""
    return costs.equation(_money_of(captured, said)) or costs.sum_title("unpriced")


def _money_of(captured: CapturedRequest, said: Conversation) -> Money | None:
    """None where the price is unknown."""
    day = captured.received_at.date()
    price = price_of_served(said.model, said.served, day)
    if price is None:
        return None
    searched = searches_of(said.model, said.served, day, said.searches)
    is_cut = bool(captured.fault) or captured.is_cut
    money = money_for(said.usage, price.rates(said.usage.prompt), searched.charged, is_cut=is_cut)
    return replace(money, source=_source_of(captured))


def _source_of(captured: CapturedRequest) -> MoneySource:
    """Where the requests of a file went is not kept: its answers may name the emulator."""
    base_url = "" if captured.address.is_of_file else captured.address.base_url
    route = route_of_captured(captured, base_url)
    source = source_of_response(route, base_url, captured.response_headers)
    return MoneySource.CLIENT if source is MoneySource.PROVIDER else source
