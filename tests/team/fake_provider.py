"""A small OpenID Connect provider on this machine: it lets in whom a test names, and checks what it is sent.

Discovery, authorization with a code and PKCE, the token with an ID token, and what is known of the person.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT, SECRET = "pipeweb", "a-shared-secret-of-more-than-thirty-two-bytes"


class FakeProvider:
    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.refuses = False
        self.url = ""
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: dict[str, dict[str, Any]] = {}

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser is sent back to, as soon as the person has agreed."""
        assert query["client_id"] == CLIENT and query["code_challenge_method"] == "S256"
        if self.refuses:
            return f"{query['redirect_uri']}?{urlencode({'error': 'access_denied', 'state': query['state']})}"
        code = secrets.token_urlsafe(8)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def exchange(self, form: dict[str, str]) -> dict[str, Any]:
        asked = self.codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == asked["code_challenge"]
        assert form["client_secret"] == SECRET and form["redirect_uri"] == asked["redirect_uri"]
        token = secrets.token_urlsafe(8)
        self.tokens[token] = self.person
        now = int(time.time())
        claims = {**self.person, "iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60}
        return {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": 60,
            "id_token": jwt.encode(claims, SECRET, algorithm="HS256"),
        }


@contextmanager
def running() -> Iterator[FakeProvider]:
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorize(query))
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif parts.path == "/userinfo":
                self._say(provider.tokens[self.headers["Authorization"].removeprefix("Bearer ")])
            else:
                self._say(provider.document())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._say(provider.exchange({name: values[0] for name, values in parse_qs(body).items()}))

        def _say(self, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
