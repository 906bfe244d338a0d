"""Who counted the tokens of a request: the provider, or an emulator, which nobody pays. What captured
programs
asked with a key of their own they have paid themselves.

The emulator in the process is known by its route, one behind a base URL by a header of its response.
"""

from hashlib import sha256
from urllib.parse import urlsplit

from sessions_app.models import CapturedRequest, Exchange, ExchangeAttempt

EMULATOR_ADDRESS = "http://emulator.invalid"
EMULATOR_KEY = "emulator"
EMULATOR_HEADER = "x-pipeweb-emulator"
GOOGLE = "googleapis.com"

KEY_HASH = sha256(EMULATOR_KEY.encode()).hexdigest()
EMULATOR_ENDPOINT = sha256(f"{EMULATOR_ADDRESS}\n{KEY_HASH}".encode()).hexdigest()[:16]


def sources_of(session_id: int) -> dict[int, tuple[str, str]]:
    """Route and source of each exchange of a session, by its key."""
    named = _named(session_id)
    captured = CapturedRequest.objects.filter(exchange__session=session_id, uses_server_key=False)
    clients = set(captured.values_list("exchange", flat=True))
    found: dict[int, tuple[str, str]] = {}
    for key, route in Exchange.objects.filter(session=session_id).values_list("pk", "route"):
        source = "emulator" if route and key in named else source_of(route)
        found[key] = route, "client" if source == "provider" and key in clients else source
    return found


def source_of(route: str) -> str:
    """As far as the route says."""
    if not route:
        return "unknown"
    return "emulator" if route.partition("/")[0] == EMULATOR_ENDPOINT else "provider"


def _named(session_id: int) -> set[int]:
    """The exchanges whose last response names an emulator; Google's address is believed without."""
    found: dict[int, bool] = {}
    attempts = ExchangeAttempt.objects.filter(exchange__session=session_id, status__isnull=False)
    rows = attempts.order_by("number").values_list("exchange", "exchange__base_url", "response_headers")
    for exchange, base_url, headers in rows:
        host = urlsplit(base_url).hostname or GOOGLE
        is_google = host == GOOGLE or host.endswith(f".{GOOGLE}")
        found[exchange] = not is_google and EMULATOR_HEADER in dict(headers)
    return {exchange for exchange, is_named in found.items() if is_named}
