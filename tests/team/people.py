"""People who sign in with a password and a code, and the codes."""

import base64
import hashlib
import hmac
import struct
import time
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

PERIOD = 30
"""Seconds in which an authenticator app shows the same code (RFC 6238)."""

MARGIN = 3
"""Seconds in which a test gives a code that it has computed."""


def code_of(secret: str, steps: int = 0) -> str:
    """What an authenticator app shows, so many periods later."""
    counter = struct.pack(">Q", int(time.time()) // PERIOD + steps)
    digest = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    at = digest[-1] & 15
    number = struct.unpack(">I", digest[at : at + 4])[0] & 0x7FFFFFFF
    return f"{number % 10**6:06d}"


def earlier_code_of(secret: str) -> str:
    """The code of the period before: it still holds, and leaves that of this one unused.

    It holds until this period ends: where that is near, the next one is waited for.
    """
    left = PERIOD - time.time() % PERIOD
    if left < MARGIN:
        time.sleep(left)
    return code_of(secret, -1)


def is_signed_in(client: Client) -> bool:
    return int(client.get(reverse("home")).status_code) == 200


class Person:
    def __init__(self, user: User, password: str) -> None:
        self.user = user
        self.password = password
        self.client = Client()
        self.secret = ""
        self.recovery: list[str] = []

    def sign_in(self, client: Client | None = None, password: str = "") -> Any:
        """The first step, in this browser or another."""
        data = {"login": self.user.get_username(), "password": password or self.password}
        return (client or self.client).post(reverse("sign-in"), data)

    def give_code(self, code: str, client: Client | None = None) -> Any:
        return (client or self.client).post(reverse("mfa_authenticate"), {"code": code})

    def confirm(self, client: Client | None = None) -> Any:
        return (client or self.client).post(reverse("account_reauthenticate"), {"password": self.password})

    def turn_on(self) -> None:
        """Sets up the second factor in the browser where the person is signed in."""
        self.confirm()
        page = self.client.get(reverse("mfa_activate_totp"))
        self.secret = page.context["secret"].replace(" ", "")
        done = self.client.post(reverse("mfa_activate_totp"), {"code": earlier_code_of(self.secret)})
        assert done.status_code == 302, done.context["form"].errors
        self.recovery = self.client.get(reverse("mfa_view_recovery_codes")).context["unused_codes"]

    def elsewhere(self) -> Client:
        """Another browser, with both steps taken."""
        other = Client()
        self.sign_in(other)
        if self.secret:
            self.give_code(self.recovery.pop(), other)
        assert is_signed_in(other)
        return other
