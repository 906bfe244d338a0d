"""Files through nginx: what it refuses itself, and what it passes on while it arrives."""

import re
import socket

import httpx2

from sessions_app.body_limits import FORM_LIMIT, body_limit
from tests.deployment.site import Site
from tests.deployment.visitor import Visitor

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 12_000


def headers(visitor: Visitor) -> dict[str, str]:
    return {"X-CSRFToken": visitor.client.cookies.get("pipeweb_csrf") or "", "Referer": visitor.site.url}


def attach(visitor: Visitor, size: int = 0) -> httpx2.Response:
    path = f"/s/{visitor.new_session()}/attachments/"
    file = ("a.png", PNG.ljust(size, b"x"))
    return visitor.client.post(path, files={"file": file}, headers=headers(visitor))


def test_a_file_is_stored_by_one_process_and_served_by_both(visitor: Visitor) -> None:
    chip = attach(visitor)
    assert chip.status_code == 200
    address = re.search(r'<img src="([^"]+)"', chip.text)
    assert address
    assert [visitor.get(address[1]).content == PNG for _ in range(4)] == [True] * 4


def test_nginx_refuses_what_is_too_large(visitor: Visitor) -> None:
    refused = attach(visitor, body_limit("attach") + 1)
    assert refused.status_code == 413 and refused.headers["Server"].startswith("nginx")


def test_nginx_refuses_a_form_that_is_too_large(visitor: Visitor) -> None:
    refused = visitor.client.post("/new", content=b"x" * (FORM_LIMIT + 1), headers=headers(visitor))
    assert refused.status_code == 413


def test_a_process_of_the_unit_refuses_before_the_body(site: Site) -> None:
    """Its command line is Daphne's own; the protocol is ours all the same."""
    head = f"POST /new HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {FORM_LIMIT + 1}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", site.processes[0].port), timeout=20) as connection:
        connection.sendall(head.encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_a_stranger_is_refused_by_pipeweb(site: Site) -> None:
    stranger = Visitor(site)
    with stranger.client:
        path = "/s/6a0c0c35-5e8a-4dbb-a3bb-4ce4c7d2f8d5/attachments/"
        refused = stranger.client.post(path, content=PNG * 10)
    assert refused.status_code == 403 and refused.text.startswith("You are signed out.")
