"""Whether it is known when the chunks of an answer arrived."""

from sessions_app.models import Exchange


def has_times(exchange: Exchange) -> bool:
    """False for an imported answer whose file has no times of chunks: a query in captured sessions only.

    The stored times of such chunks are that of the end of the answer (`capture.framing`).
    """
    captured = exchange.captured_request
    return captured is None or bool(captured.packets)
