"""What a program reads when Pipeweb itself refuses its request or cannot finish it, in the form of Google."""

from dataclasses import dataclass

from sessions_app.error_codes import CaptureFault
from sessions_app.prompt import wire
from sessions_app.wording import capture

MARK = "X-Pipeweb"
"""A header of our own answers: those of the provider have none."""

_STATUSES: dict[CaptureFault, tuple[int, str]] = {
    CaptureFault.UNKNOWN_ADDRESS: (401, "UNAUTHENTICATED"),
    CaptureFault.REVOKED: (401, "UNAUTHENTICATED"),
    CaptureFault.EXPIRED: (401, "UNAUTHENTICATED"),
    CaptureFault.SWITCHED_OFF: (403, "PERMISSION_DENIED"),
    CaptureFault.FROM_ELSEWHERE: (403, "PERMISSION_DENIED"),
    CaptureFault.FROM_BROWSER: (403, "PERMISSION_DENIED"),
    CaptureFault.WRONG_HOST: (400, "INVALID_ARGUMENT"),
    CaptureFault.WRONG_PATH: (404, "NOT_FOUND"),
    CaptureFault.WRONG_METHOD: (404, "NOT_FOUND"),
    CaptureFault.CONTROL_CHARACTER: (400, "INVALID_ARGUMENT"),
    CaptureFault.LIVE: (501, "UNIMPLEMENTED"),
    CaptureFault.UNCHECKED: (503, "UNAVAILABLE"),
    CaptureFault.TOO_MANY: (503, "UNAVAILABLE"),
    CaptureFault.NOT_REACHED: (502, "UNAVAILABLE"),
    CaptureFault.NOT_ANSWERED: (502, "UNAVAILABLE"),
    CaptureFault.NO_ANSWER: (504, "DEADLINE_EXCEEDED"),
    CaptureFault.STOPPED: (503, "UNAVAILABLE"),
    CaptureFault.NO_SERVER_KEY: (401, "UNAUTHENTICATED"),
    CaptureFault.NO_ALLOWANCE: (403, "PERMISSION_DENIED"),
    CaptureFault.OVER_BUDGET: (429, "RESOURCE_EXHAUSTED"),
    CaptureFault.BUDGET_HELD: (429, "RESOURCE_EXHAUSTED"),
    CaptureFault.NOT_BOOKED: (503, "UNAVAILABLE"),
    CaptureFault.NOT_READ: (400, "INVALID_ARGUMENT"),
    CaptureFault.BUDGET_UNCHECKED: (503, "UNAVAILABLE"),
    CaptureFault.NOT_WITH_SERVER_KEY: (403, "PERMISSION_DENIED"),
    CaptureFault.REQUEST_TOO_LARGE: (413, "INVALID_ARGUMENT"),
}


@dataclass(frozen=True, slots=True)
class OwnAnswer:
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def own_answer(fault: CaptureFault, *, limit: int = 0) -> OwnAnswer:
    """502 for what has no answer of its own: the connection is gone, or the answer has begun."""
    status, name = _STATUSES.get(fault, (502, "UNAVAILABLE"))
    error = {"code": status, "message": f"Pipeweb: {capture.fault(fault, limit=limit)}", "status": name}
    body = wire.dumps({"error": error})
    headers = [
        (b"Content-Type", b"application/json; charset=UTF-8"),
        (b"Content-Length", str(len(body)).encode()),
        (b"Cache-Control", b"no-store"),
        (MARK.encode(), fault.value.encode()),
    ]
    return OwnAnswer(status, headers, body)
