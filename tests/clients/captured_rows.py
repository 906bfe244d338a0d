"""What the database of a server holds of the requests of an address. Arguments: the name of the address.

A process of its own, whose settings are those of the server. It prints a list, a request each.
"""

import os
import sys
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import django
import orjson

if TYPE_CHECKING:
    from sessions_app.models import CapturedRequest, Exchange

FACTS = (
    *(
        "method",
        "path",
        "status",
        "fault",
        "is_cut",
        "name",
        "client",
        "prompt_tokens",
        "cached_tokens",
        "calls",
    ),
    *("session", "lane", "relation", "role", "before", "is_guess"),
)


def main(name: str) -> None:
    from sessions_app.models import CapturedRequest

    rows = CapturedRequest.objects.filter(address__name=name).order_by("pk")
    told = [_told(row) for row in rows.select_related("exchange__previous", "request_body", "response_body")]
    sys.stdout.buffer.write(orjson.dumps(told))


def _told(row: "CapturedRequest") -> dict[str, Any]:
    bodies = {"body": row.sent_body(), "answer": row.received_body()}
    return {
        "key": str(row.public),
        "has_ended": row.ended_at is not None,
        **_compared(row.exchange),
        **{fact: getattr(row, fact) for fact in FACTS},
        **{what: b64encode(body).decode() for what, body in bodies.items()},
    }


def _compared(exchange: "Exchange | None") -> dict[str, str]:
    """The culprit of the break by its place in the body, and the verdict; empty for none."""
    if exchange is None:
        return {"broken": "", "verdict": ""}
    broken, verdict = exchange.found_break, exchange.found_verdict
    beside = [one for one in (exchange, exchange.previous) if one is not None]
    places = [place for one in beside for place in _places(one, broken.source)] if broken else []
    return {"broken": places[0] if places else "", "verdict": verdict.reason.value if verdict else ""}


def _places(exchange: "Exchange", source: str) -> list[str]:
    """What the items of this source are in the body itself."""
    from sessions_app.capture.cutting import cut

    pairs = zip(cut(exchange.request_body()).prompt, exchange.sent_items(), strict=True)
    return [item.source for item, sent in pairs if sent.source.name == source]


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "pipeweb.settings"
    django.setup()
    main(*sys.argv[1:])
