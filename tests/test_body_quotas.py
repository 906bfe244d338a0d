"""Limits of a person that are reached before a file is read: told as views tell it, nothing is booked."""

import asyncio
import errno
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from pipeweb import bodies, nameless_files
from pipeweb.bodies import BodyHandler
from sessions_app.body_limits import FORM_LIMIT
from sessions_app.error_codes import RefusalCode
from sessions_app.models import ImportJob, PersonalLimits, PersonalUsage
from sessions_app.models.import_job import ACTIVE_LIMIT
from sessions_app.wording.refusals import refusal_texts
from tests.factories import make_session
from tests.test_bodies import Server

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cookie(client: Client) -> str:
    return client.cookies.output(header="", attrs=[]).strip()


LIMITS = [
    ("upload", RefusalCode.UPLOAD_MB_PER_DAY, {"upload_mb_per_day": 2}),
    ("attach", RefusalCode.UPLOAD_MB_PER_DAY, {"upload_mb_per_day": 2}),
    ("attach", RefusalCode.STORAGE_MB, {"storage_mb": 2}),
    ("fill", RefusalCode.UPLOAD_MB_PER_DAY, {"upload_mb_per_day": 2}),
    ("har", RefusalCode.UPLOAD_MB_PER_DAY, {"upload_mb_per_day": 2}),
    ("har", RefusalCode.STORAGE_MB, {"storage_mb": 2}),
    ("import", RefusalCode.UPLOAD_MB_PER_DAY, {"upload_mb_per_day": 2}),
    ("import", RefusalCode.STORAGE_MB, {"storage_mb": 2}),
    ("import", RefusalCode.SESSIONS, {"sessions": 0}),
]


class LimitedServer(Server):
    """A file of a person who has used 1 MB; Django answers what is refused."""

    def __init__(self, route: str, user: User, limits: dict[str, int], **headers: str) -> None:
        path = reverse(route, args=[] if route in ("har", "import") else [make_session(user).public])
        PersonalLimits.objects.create(user=user, **limits)
        facts = {"day": timezone.now().date(), "counted_at": timezone.now()}
        PersonalUsage.objects.create(user=user, uploaded=1_000_000, stored=1_000_000, **facts)
        kind = {"content_type": "multipart/form-data; boundary=b"}
        super().__init__([b"x"], path, host="testserver", **kind | headers)

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        answers = BodyHandler() if "refused" in scope else super().application
        await answers(scope, receive, send)


@pytest.mark.parametrize("case", LIMITS)
@pytest.mark.parametrize("accept", ["text/html", "*/*"])
async def test_a_file_over_a_limit_is_not_asked_for(
    alice: User, cookie: str, case: tuple[str, RefusalCode, dict[str, int]], accept: str
) -> None:
    route, reason, limits = case
    of_file = {"content_length": "1000001", "cookie": cookie, "accept": accept}
    server = await sync_to_async(LimitedServer)(route, alice, limits, **of_file)
    assert (await server.run(), server.asked) == (429, 0)
    used = 0 if reason is RefusalCode.SESSIONS else 1
    sentence, hint = refusal_texts(reason, {"used": used, "limit": next(iter(limits.values()))})
    assert sentence in server.text and (accept == "*/*" or "<h1>" in server.text)
    assert reason is RefusalCode.UPLOAD_MB_PER_DAY or hint in server.text
    headers = {name.lower(): value for name, value in server.sent[0]["headers"]}
    assert 0 < int(headers[b"retry-after"]) <= 86_400
    usage = await PersonalUsage.objects.aget()
    assert (usage.uploaded, usage.stored) == (1_000_000, 1_000_000)


async def test_an_import_beside_two_others_is_not_asked_for(alice: User, cookie: str) -> None:
    for _ in range(ACTIVE_LIMIT):
        await sync_to_async(ImportJob.objects.create)(owner=alice)
    of_file = {"content_length": "9", "cookie": cookie}
    server = await sync_to_async(LimitedServer)("import", alice, {}, **of_file)
    assert (await server.run(), server.asked) == (429, 0)
    figures = {"used": ACTIVE_LIMIT, "limit": ACTIVE_LIMIT}
    assert refusal_texts(RefusalCode.IMPORTS_AT_ONCE, figures)[0] in server.text


@pytest.mark.parametrize(("limit", "status"), [(1, 429), (2, 200)])
async def test_without_a_length_a_file_is_asked_for_unless_the_limit_is_reached(
    alice: User, cookie: str, limit: int, status: int
) -> None:
    chunked = {"transfer_encoding": "chunked", "cookie": cookie}
    limits = {"upload_mb_per_day": limit}
    server = await sync_to_async(LimitedServer)("attach", alice, limits, **chunked)
    assert await server.run() == status
    assert (server.asked == 0) == (status == 429)


async def test_a_limit_of_files_does_not_stop_a_form_without_one(alice: User, cookie: str) -> None:
    form = {"cookie": cookie, "content_length": "1", "content_type": "application/x-www-form-urlencoded"}
    server = await sync_to_async(LimitedServer)("upload", alice, {"upload_mb_per_day": 0}, **form)
    assert (await server.run(), server.taken) == (200, b"x")


async def test_such_a_form_is_no_larger_than_elsewhere(alice: User, cookie: str) -> None:
    form = {"cookie": cookie, "content_type": "application/x-www-form-urlencoded"}
    server = await sync_to_async(LimitedServer)(
        "upload", alice, {}, content_length=str(FORM_LIMIT + 1), **form
    )
    assert (await server.run(), server.asked) == (413, 0)


async def test_a_full_disk_is_told_before_the_body(
    alice: User, cookie: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(user_id: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(bodies, "check_room", full)
    of_file = {"content_length": "9", "cookie": cookie}
    server = await sync_to_async(LimitedServer)("attach", alice, {}, **of_file)
    assert (await server.run(), server.asked) == (507, 0)


FILE = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n%b\r\n--b--\r\n'


class StoringServer(LimitedServer):
    """Django reads the body, then waits for a disconnect."""

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        await BodyHandler()(scope, receive, send)

    async def receive(self) -> dict[str, Any]:
        if self.asked:
            await asyncio.get_running_loop().create_future()
        return await super().receive()


def files_of_a_full_disk() -> Iterator[IO[bytes]]:
    yield Path("/dev/full").open("r+b")  # noqa: SIM115
    yield BytesIO()


@pytest.mark.parametrize("size", [10, 100_000])
@pytest.mark.parametrize("kept", [(bodies, "SpooledTemporaryFile"), (nameless_files, "TemporaryFile")])
async def test_a_disk_that_is_full_before_the_end_of_a_body_is_told(
    alice: User, cookie: str, settings: Settings, kept: tuple[ModuleType, str], size: int
) -> None:
    files = files_of_a_full_disk()
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 0
    body = FILE % (b"x" * size)
    of_file = {"content_length": str(len(body)), "cookie": cookie, "sec_fetch_mode": "cors"}
    server = await sync_to_async(StoringServer)("attach", alice, {}, **of_file)
    server._pieces = [body]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*kept, lambda **_: next(files))
        assert await server.run() == 507
    assert {"message", "hint"} == set(json.loads(server.text))
