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
    from sessions_app.models import CapturedRequest

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
    told = [_told(row) for row in rows.select_related("request_body", "response_body")]
    sys.stdout.buffer.write(orjson.dumps(told))


def _told(row: "CapturedRequest") -> dict[str, Any]:
    bodies = {"body": row.request_body, "answer": row.response_body}
    return {
        "key": str(row.public),
        "has_ended": row.ended_at is not None,
        "broken": _broken(row),
        **{fact: getattr(row, fact) for fact in FACTS},
        **{what: b64encode(body.bytes if body else b"").decode() for what, body in bodies.items()},
    }


def _broken(row: "CapturedRequest") -> str:
    """The item in which it leaves the request before it; empty where it goes on from all of that."""
    from sessions_app.capture.comparison import captured_prompt

    broken = captured_prompt(row).broken if row.session else None
    return broken.source if broken else ""


if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "pipeweb.settings"
    django.setup()
    main(*sys.argv[1:])
