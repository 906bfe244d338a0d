"""The web app manifest and the colours of the browser's bar."""

import re
from pathlib import Path

from django.contrib.staticfiles import finders
from django.test import Client

from sessions_app.chat.manifest import PAPER

PNG = b"\x89PNG\r\n\x1a\n"


def test_it_is_there_for_everybody_with_its_type() -> None:
    answer = Client().get("/app.webmanifest")
    assert answer.status_code == 200 and answer["Content-Type"] == "application/manifest+json"
    shown = answer.json()
    assert shown["start_url"] == "/" and shown["display"] == "standalone"
    assert {"192x192", "512x512", "any"} == {icon["sizes"] for icon in shown["icons"]}


def test_each_icon_has_the_size_that_is_said() -> None:
    for icon in Client().get("/app.webmanifest").json()["icons"]:
        found = finders.find(icon["src"].removeprefix("/static/"))
        assert isinstance(found, str)
        if icon["type"] == "image/png":
            body = Path(found).read_bytes()
            size = int.from_bytes(body[16:20]), int.from_bytes(body[20:24])
            assert body.startswith(PNG) and f"{size[0]}x{size[1]}" == icon["sizes"]


def test_the_bar_has_the_colour_of_the_paper_in_both_themes(db: None) -> None:
    found = finders.find("css/tokens.css")
    assert isinstance(found, str)
    paper = re.search(r"--paper: light-dark\((#\w+), (#\w+)\)", Path(found).read_text())
    assert paper
    page = Client().get("/", follow=True).content.decode()
    metas = re.findall(r'<meta name="theme-color" content="(#\w+)" [^>]*data-scheme="(\w+)"', page)
    assert metas == [(paper[1], "light"), (paper[2], "dark")] and paper[1] == PAPER
    assert 'rel="manifest" href="/app.webmanifest"' in page and 'rel="apple-touch-icon"' in page


def test_the_content_policy_names_manifests(db: None) -> None:
    assert "manifest-src 'self'" in Client().get("/", follow=True)["Content-Security-Policy"]
