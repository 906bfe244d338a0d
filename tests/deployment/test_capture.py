"""Requests of other programs while PostgreSQL is gone: all pass, and are recorded when it is back."""

import time

import httpx2

from tests.deployment.site import Site

BODY = {"contents": [{"role": "user", "parts": [{"text": "Hello there, how are you?"}]}]}
GENERATE = "/v1beta/models/gemini-3-flash-preview:generateContent"
CAPTURED = "SELECT status, fault FROM sessions_app_capturedrequest WHERE ended_at IS NOT NULL"
LIMIT = 30.0


def test_calls_pass_while_the_database_is_gone_and_are_recorded_afterwards(site: Site) -> None:
    port = str(site.processes[0].port)
    made = site.run("capture", "--name", "Gone", "--emulator", "--port", port, environment=site.environment)
    url = made.stdout.strip() + GENERATE
    with httpx2.Client(timeout=60, trust_env=False) as client:
        headers = {"x-goog-api-key": "any"}
        first = client.post(url, json=BODY, headers=headers)
        assert first.status_code == 200, first.text
        with site.database.gone():
            began, answers = time.monotonic(), []
            while time.monotonic() < began + 8:
                answers.append(client.post(url, json=BODY, headers=headers))
                time.sleep(0.3)
        assert len(answers) > 3 and {one.status_code for one in answers} == {200}
        assert all(one.json()["candidates"] for one in answers)
    deadline = time.monotonic() + LIMIT
    while len(found := site.database.rows(CAPTURED)) < len(answers) + 1 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert found == [(200, "")] * (len(answers) + 1)
