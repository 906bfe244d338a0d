"""/metrics for Prometheus."""

import ipaddress

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from sessions_app.metrics import REGISTRY

PROXY_HEADERS = ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_HOST", "HTTP_X_REAL_IP", "HTTP_FORWARDED")


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics of this process, for local requests and staff."""
    if not (is_local(request) or is_staff(request)):
        raise Http404
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def is_local(request: HttpRequest) -> bool:
    """Whether the client is on this machine and no proxy forwarded the request."""
    if any(name in request.META for name in PROXY_HEADERS):
        return False
    try:
        return ipaddress.ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def is_staff(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_staff
