"""Which recorded exchanges can be judged, and why the others cannot."""

import orjson

from sessions_app.conform.recordings.recorded import ROUTES, RecordedExchange
from sessions_app.emulator.catalogue import find_model
from sessions_app.emulator.usage import estimate_tokens

_SPOKEN = frozenset({"text", "empty text", "thought", "functionCall"})
_OUTSIDE = ("fileData", "file_data", "fileUri", "file_uri", "inlineData", "inline_data")


def reason_to_skip(exchange: RecordedExchange | str) -> str:
    """Why an exchange cannot be compared; "" when it can."""
    if isinstance(exchange, str):
        return exchange
    return _foreign(exchange) or _unplayable(exchange) or _decided_elsewhere(exchange)


def is_wire(exchange: RecordedExchange) -> bool:
    """Whether the exchange is as Google's own service sent it."""
    true = {"fidelity:wire", "fidelity:parsed"} & exchange.tags
    return bool(true) and "vertex" not in exchange.tags


def is_plain(exchange: RecordedExchange) -> bool:
    """Whether it has only words, thoughts and calls of the client's functions."""
    candidates = [each for chunk in exchange.response_chunks for each in chunk.get("candidates", [])]
    is_grounded = any("groundingMetadata" in each for each in candidates)
    return exchange.kinds <= _SPOKEN and not is_grounded and not _uses_provider_tools(exchange)


def _uses_provider_tools(exchange: RecordedExchange) -> bool:
    return any(tool.keys() - {"functionDeclarations"} for tool in exchange.tools)


def _foreign(exchange: RecordedExchange) -> str:
    tags = exchange.tags
    if "fidelity:vendor-mock" in tags:
        return "a mock, written or edited by hand"
    if not {"fidelity:wire", "fidelity:parsed"} & tags:
        return "dumped by an SDK, not by a recorder"
    if "vertex" in tags:
        return "another service, Vertex"
    if "via-firebase-ai-logic-proxy" in tags and "http_404" in tags:
        return "the proxy's own error"
    return ""


def _unplayable(exchange: RecordedExchange) -> str:
    if exchange.endpoint not in ROUTES:
        return f"an endpoint that is not played: {exchange.endpoint}"
    if exchange.request is None and "delete" not in exchange.endpoint:
        return "no request recorded"
    if exchange.status == 200 and exchange.model_requested and not find_model(exchange.model_requested):
        return f"{exchange.model_requested} is not served"
    if exchange.status == 200 and _uses_provider_tools(exchange):
        return "the provider's own tools"
    if exchange.generates and not exchange.kinds <= _SPOKEN:
        return f"parts of kind {', '.join(sorted(exchange.kinds - _SPOKEN))}"
    return ""


def _decided_elsewhere(exchange: RecordedExchange) -> str:
    """What depends on an account, on a load or on bytes that the recording does not have."""
    if exchange.status == 429:
        return "a quota error"
    if exchange.status >= 500:
        return "a failure of the provider"
    if exchange.endpoint == "cachedContents.post" and is_trimmed(exchange):
        return "a cache creation whose contents were trimmed"
    return ""


def is_trimmed(exchange: RecordedExchange) -> bool:
    """Whether the recorder shortened the contents: they have less than half of the counted tokens."""
    body = orjson.dumps(exchange.request).decode()
    if "trimmed" in exchange.tags:
        return True
    counted = exchange.response_chunks[0].get("usageMetadata", {}).get("totalTokenCount", 0)
    return not any(key in body for key in _OUTSIDE) and 2 * estimate_tokens(body) < counted
