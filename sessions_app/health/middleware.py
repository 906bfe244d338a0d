"""/healthz and /readyz, before every other middleware: no database, no session."""

import tomllib
from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.utils.cache import add_never_cache_headers

from sessions_app.health.probe import OK, SILENT, HealthProbe

PATHS = ("/healthz", "/readyz")


def health_middleware(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Answers from the last report of the process's probe (`scope["probe"]`)."""
    return lambda request: health_response(request) if request.path in PATHS else get_response(request)


def health_response(request: HttpRequest) -> HttpResponse:
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    probe: HealthProbe | None = getattr(request, "scope", {}).get("probe")
    facts = facts_of(probe)
    if request.path == "/healthz":
        is_fine = probe is None or probe.is_alive
    else:
        is_fine = probe is not None and probe.is_ready
    response = JsonResponse(facts, status=200 if is_fine else 503)
    add_never_cache_headers(response)
    return response


def facts_of(probe: HealthProbe | None) -> dict[str, Any]:
    """What the last report says, and how old it is; the failing part is named, never why."""
    report = probe.report if probe else None
    if probe is None or report is None:
        return {"status": "starting", "version": version()}
    heartbeat = OK if probe.has_heartbeat else SILENT
    facts = {"database": report.database, "disk": report.disk, "heartbeat": heartbeat}
    if settings.REDIS_URL:
        facts["redis"] = report.redis or SILENT
    is_whole = all(state == OK for state in facts.values())
    status = "down" if not probe.is_ready else OK if is_whole else "degraded"
    ages = {"age": round(report.age, 1), "heartbeat_age": round(probe.heartbeat_age(), 1)}
    return {"status": status, **facts, **ages, "version": version()}


@cache
def version() -> str:
    """The version in pyproject.toml."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])
