"""Whether the money of a route is paid or only would have been."""

from sessions_app.gemini.routes import endpoint_of, route_of
from sessions_app.hosts import EMULATOR
from sessions_app.prompt.pricing import MoneySource

EMULATOR_ENDPOINT = route_of(EMULATOR, "emulator")
"""The endpoint of the emulator in this process (`Gateway.to_emulator`), in either dialect."""


def source_of(route: str) -> MoneySource:
    """Who counts the tokens of a request over this route; unknown where no route was kept."""
    if not route:
        return MoneySource.UNKNOWN
    return MoneySource.EMULATOR if endpoint_of(route) == EMULATOR_ENDPOINT else MoneySource.PROVIDER
