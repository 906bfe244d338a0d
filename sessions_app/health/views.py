"""What machines ask: may requests come here, and how is it going."""

import ipaddress

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from sessions_app.health import checks
from sessions_app.instruments import REGISTRY

FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_REAL_IP", "HTTP_FORWARDED")


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when requests may come here, 503 when not; the body says which part fails, and never why.

    Without Redis a process still serves: readers hear of another process's runs a second later.
    Taking every process out of service for that would turn a delay into an outage.
    """
    facts = {"database": words(checks.database_answers())}
    if settings.REDIS_URL:
        facts["redis"] = words(checks.redis_answers())
    failing = [name for name, state in facts.items() if state != "ok"]
    status = "ok" if not failing else "down" if "database" in failing else "degraded"
    answer = {"status": status, **facts, "version": checks.version()}
    return JsonResponse(answer, status=503 if status == "down" else 200)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The figures of this process in Prometheus text, for this machine and for staff."""
    if not (is_local(request) or is_staff(request)):
        raise Http404
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def words(answers: bool) -> str:
    return "ok" if answers else "no answer"


def is_local(request: HttpRequest) -> bool:
    """True when the request was made on this machine, and not passed on by a proxy that runs here."""
    if any(name in request.META for name in FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def is_staff(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff
