import base64
import hashlib
from datetime import UTC, datetime, timedelta
from io import BytesIO

import httpx2
import pytest
from google.genai import errors, types
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator, EmulatorTransport
from tests.emulator.helpers import FLASH, send, user

OFFSET = "X-Goog-Upload-Offset"
START = {"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"}


async def upload(sdk: AsyncClient, data: bytes = b"hello") -> types.File:
    config = types.UploadFileConfig(mime_type="text/plain", display_name="notes")
    return await sdk.files.upload(file=BytesIO(data), config=config)


async def test_the_sdk_uploads_finds_lists_and_deletes(sdk: AsyncClient) -> None:
    made = await upload(sdk)
    assert (made.display_name, made.mime_type, made.size_bytes) == ("notes", "text/plain", 5)
    assert made.state == types.FileState.ACTIVE and made.name and made.uri and made.uri.endswith(made.name)
    assert (await sdk.files.get(name=made.name)).uri == made.uri
    assert [file.name async for file in await sdk.files.list()] == [made.name]
    await sdk.files.delete(name=made.name)
    assert [file.name async for file in await sdk.files.list()] == []


async def test_a_file_can_be_asked_about(sdk: AsyncClient) -> None:
    made = await upload(sdk)
    reply = await sdk.models.generate_content(model=FLASH, contents=["look", made])
    assert reply.usage_metadata and (reply.usage_metadata.prompt_token_count or 0) > 258
    await sdk.files.delete(name=made.name or "")
    with pytest.raises(errors.ClientError, match="may not exist"):
        await sdk.models.generate_content(model=FLASH, contents=["look", made])


async def test_a_missing_file_is_a_403_like_a_foreign_one(sdk: AsyncClient, http: httpx2.AsyncClient) -> None:
    made = await upload(sdk)
    with pytest.raises(errors.ClientError) as refused:
        await sdk.files.get(name="files/none")
    assert (refused.value.code, refused.value.status) == (403, "PERMISSION_DENIED")
    foreign = await http.get(f"/v1beta/{made.name}", headers={"x-goog-api-key": "somebody-else"})
    assert foreign.status_code == 403


async def test_a_large_file_comes_in_chunks(http: httpx2.AsyncClient) -> None:
    begun = await http.post("/upload/v1beta/files", json={"file": {"display_name": "big"}}, headers=START)
    url = begun.headers["x-goog-upload-url"]
    first = await http.post(url, content=b"abc", headers=sending("upload", 0))
    last = await http.post(url, content=b"de", headers=sending("upload, finalize", 3))
    assert first.headers["x-goog-upload-status"] == "active"
    assert last.headers["x-goog-upload-status"] == "final" and last.json()["file"]["sizeBytes"] == "5"


def sending(command: str, offset: int) -> dict[str, str]:
    return {"X-Goog-Upload-Command": command, OFFSET: str(offset)}


async def test_bytes_out_of_order_are_refused(http: httpx2.AsyncClient) -> None:
    begun = await http.post("/upload/v1beta/files", json={}, headers=START)
    url = begun.headers["x-goog-upload-url"]
    assert (await http.post(url, content=b"abc", headers=sending("upload", 7))).status_code == 400
    assert (
        await http.post(url, content=b"abc", headers={**sending("upload", 0), OFFSET: "x"})
    ).status_code == 400
    assert (await http.post(url, content=b"abc", headers=sending("sing", 0))).status_code == 400
    await http.post(url, content=b"abc", headers=sending("upload, finalize", 0))
    assert (await http.post(url, content=b"abc", headers=sending("upload", 3))).status_code == 400


async def test_a_file_is_gone_after_two_days() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    emulator = Emulator(delay=0, clock=lambda: now)
    transport, headers = EmulatorTransport(emulator), {"x-goog-api-key": "a"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://e.test", headers=headers) as http:
        begun = await http.post("/upload/v1/files", json={}, headers=START)
        url = begun.headers["x-goog-upload-url"]
        made = await http.post(url, content=b"a", headers=sending("upload, finalize", 0))
        name = made.json()["file"]["name"]
        assert (await http.get(f"/v1/{name}")).status_code == 200
        now += timedelta(hours=49)
        assert (await http.get(f"/v1/{name}")).status_code == 403


def test_a_file_of_another_house_is_not_looked_for(emulator: Emulator) -> None:
    part = {"fileData": {"fileUri": "https://example.test/video", "mimeType": "video/mp4"}}
    body = {"contents": [{"role": "user", "parts": [part, *user("look")["parts"]]}]}
    assert send(emulator, "POST", f"models/{FLASH}:generateContent", body)[0] == 200


async def test_a_video_is_read_before_it_can_be_asked_about(sdk: AsyncClient, emulator: Emulator) -> None:
    config = types.UploadFileConfig(mime_type="video/mp4")
    made = await sdk.files.upload(file=BytesIO(b"moving"), config=config)
    assert made.state == types.FileState.PROCESSING
    with pytest.raises(errors.ClientError, match="not in an ACTIVE state"):
        await sdk.models.generate_content(model=FLASH, contents=["look", made])
    (file,) = emulator.files.owned_by("emulator")
    assert file.describe(file.created + timedelta(seconds=1))["state"] == "ACTIVE"


MULTIPART = (
    b'--edge\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{"file": {"display_name": "notes"}}\r\n'
    b"--edge\r\nContent-Type: text/plain\r\n\r\none\r\n--two\r\n\xff\r\n--edge--\r\n"
)
RELATED = {"content-type": "multipart/related; boundary=edge"}


@pytest.mark.parametrize(
    ("query", "headers"),
    [("?uploadType=multipart", RELATED), ("", RELATED | {"X-Goog-Upload-Protocol": "multipart"})],
)
async def test_a_file_comes_in_one_multipart_request(
    http: httpx2.AsyncClient, query: str, headers: dict[str, str]
) -> None:
    made = await http.post(f"/upload/v1beta/files{query}", content=MULTIPART, headers=headers)
    file = made.json()["file"]
    assert (file["displayName"], file["mimeType"], file["state"]) == ("notes", "text/plain", "ACTIVE")
    data = b"one\r\n--two\r\n\xff"
    digest = base64.b64encode(hashlib.sha256(data).hexdigest().encode()).decode()
    assert (file["sizeBytes"], file["sha256Hash"]) == (str(len(data)), digest)
    assert (await http.get(f"/v1beta/{file['name']}")).json() == file


async def test_a_bare_body_is_a_file_too(http: httpx2.AsyncClient) -> None:
    headers = {"X-Goog-Upload-Protocol": "raw", "content-type": "text/csv"}
    file = (await http.post("/upload/v1beta/files", content=b"a,b", headers=headers)).json()["file"]
    assert (file["mimeType"], file["sizeBytes"]) == ("text/csv", "3")


@pytest.mark.parametrize(
    ("content_type", "body", "words"),
    [
        ("multipart/related", MULTIPART, "does not contain a boundary"),
        ("application/json", b"{}", "does not contain a boundary"),
        ("multipart/related; boundary=edge", MULTIPART[:-8], "Missing end boundary"),
        ("multipart/related; boundary=edge", b"", "Missing end boundary"),
        ("multipart/related; boundary=edge", b"--edge\r\n\r\n{}\r\n--edge--", "must have two"),
        (
            "multipart/related; boundary=edge",
            b"--edge\r\n\r\nno\r\n--edge\r\n\r\na\r\n--edge--",
            "Invalid JSON",
        ),
    ],
)
async def test_a_broken_multipart_body_is_refused(
    http: httpx2.AsyncClient, content_type: str, body: bytes, words: str
) -> None:
    path, headers = "/upload/v1beta/files?uploadType=multipart", {"content-type": content_type}
    response = await http.post(path, content=body, headers=headers)
    assert response.status_code == 400 and words in response.json()["error"]["message"]
