"""The web app manifest: name, colours and icons of an installed Pipeweb."""

from django.http import HttpRequest, JsonResponse
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

PAPER = "#faf9f6"
"""`--paper` of the light theme (static/css/tokens.css); a manifest has one colour."""


@require_safe
@cache_control(public=True, max_age=3600)
def manifest(request: HttpRequest) -> JsonResponse:
    """A page and no file, since it names the icons by their hashed names. Browsers ask without cookies."""
    shown = {
        "name": "Pipeweb",
        "short_name": "Pipeweb",
        "description": "A chat with Gemini in which every answer can be opened.",
        "id": "/",
        "start_url": reverse("home"),
        "scope": "/",
        "display": "standalone",
        "background_color": PAPER,
        "theme_color": PAPER,
        "icons": [
            {"src": static("icon.svg"), "sizes": "any", "type": "image/svg+xml"},
            *[_png(size, "any") for size in (192, 512)],
            _png(512, "maskable"),
        ],
    }
    return JsonResponse(shown, content_type="application/manifest+json")


def _png(size: int, purpose: str) -> dict[str, str]:
    name = "maskable" if purpose == "maskable" else "icon"
    return {
        "src": static(f"icons/{name}-{size}.png"),
        "sizes": f"{size}x{size}",
        "type": "image/png",
        "purpose": purpose,
    }
