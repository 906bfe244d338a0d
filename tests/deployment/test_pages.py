"""What nginx serves itself, what it passes on, and what it keeps to itself."""

import re
import time

import httpx2

from tests.deployment.site import Site
from tests.deployment.visitor import Visitor


def test_a_password_signs_in_through_https(visitor: Visitor) -> None:
    answer = visitor.get("/")
    assert answer.status_code == 200
    assert answer.headers.get_list("Strict-Transport-Security") == ["max-age=31536000"]
    assert "camera=()" in answer.headers["Permissions-Policy"]


def test_a_cookie_never_travels_without_tls(site: Site) -> None:
    stranger = Visitor(site)
    with stranger.client:
        cookies = stranger.get("/sign-in").headers.get_list("Set-Cookie")
    assert cookies and all("Secure" in cookie for cookie in cookies)


def test_a_request_without_tls_is_sent_to_https(site: Site) -> None:
    answer = httpx2.get(f"http://127.0.0.1:{site.plain_port}/s/x/")
    assert (answer.status_code, answer.headers["Location"]) == (301, "https://127.0.0.1/s/x/")


def test_nginx_serves_hashed_files_for_ever_and_compressed(visitor: Visitor) -> None:
    path = re.search(r'/static/[^"]+\.[0-9a-f]{12}\.css', visitor.get("/").text)
    assert path
    answer = visitor.get(path[0])
    assert answer.headers["Server"].startswith("nginx")
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Encoding"] == "gzip"


def test_pages_are_compressed(visitor: Visitor) -> None:
    assert visitor.get("/").headers["Content-Encoding"] == "gzip"


def test_nginx_serves_nothing_else_of_the_data_folder(visitor: Visitor) -> None:
    for path in ("/static/../environment", "/static/%2e%2e/secret", "/workspaces/"):
        assert visitor.get(path).status_code in {400, 404}


def test_both_processes_say_they_are_healthy(site: Site) -> None:
    for process in site.processes:
        address = f"http://127.0.0.1:{process.port}"
        # Their first probe may not have come back.
        for _ in range(500):
            if httpx2.get(f"{address}/readyz").status_code == 200:
                break
            time.sleep(0.1)
        for path in ("/healthz", "/readyz"):
            facts = httpx2.get(f"{address}{path}").json()
            assert (facts["status"], facts["database"], facts["redis"]) == ("ok", "ok", "ok")


def test_figures_are_for_this_machine_and_not_for_who_comes_through_nginx(site: Site) -> None:
    direct = httpx2.get(f"http://127.0.0.1:{site.processes[0].port}/metrics")
    through = httpx2.get(f"{site.url}/metrics", verify=site.trust, headers={"X-Forwarded-For": "127.0.0.1"})
    assert "pipeweb_active_runs" in direct.text
    assert through.status_code == 404


def test_a_form_from_another_site_is_refused(visitor: Visitor) -> None:
    token = visitor.client.cookies.get("pipeweb_csrf") or ""
    headers = {"X-CSRFToken": token, "Origin": "https://evil.example"}
    assert visitor.client.post("/new", data={"quick": "1"}, headers=headers).status_code == 403


def test_no_log_holds_a_token_or_what_people_search_for(site: Site, visitor: Visitor) -> None:
    token = "token-that-was-sent-22"
    visitor.get(f"/sign-in/{token}")
    visitor.get(f"/shared/{token}/")
    visitor.get(f"/capture/{token}/v1beta/models?key={token}")
    visitor.get(f"/capture/{token}/upload/v1beta/files?upload_id={token}")
    visitor.get(f"/%63apture/{token}/v1beta/models")
    visitor.get(f"/nowhere?access_token={token}")
    visitor.get("/?q=a+private+matter")
    visitor.get("/nowhere-to-be-found")
    assert "nowhere-to-be-found" in site.logs
    assert token not in site.logs and "private" not in site.logs


def test_a_page_comes_from_the_process_that_is_left(site: Site, visitor: Visitor) -> None:
    site.processes[0].stop()
    assert {visitor.get("/").status_code for _ in range(6)} == {200}
