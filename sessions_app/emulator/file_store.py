"""Uploaded files: their metadata, and the uploads that bring them (gemini-wire §2).

Bytes are counted and hashed, then dropped: no scenario reads them.
"""

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sessions_app.emulator.api_errors import file_gone, file_not_ready, invalid
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.gemini_requests import Content
from sessions_app.emulator.http import ApiResponse, RouteMatch, json_response
from sessions_app.emulator.multipart import parse_multipart
from sessions_app.emulator.resource_store import Clock, ResourceStore, resource_name, timestamp
from sessions_app.emulator.wire_model import JsonObject, WireModel, parse

_LIFETIME = timedelta(hours=48)
_VIDEO_PROCESSING = timedelta(milliseconds=300)
_URI = re.compile(r".*/v1(?:alpha|beta)?/(files/[^/?]+)")

_PROTOCOL, _COMMAND, _OFFSET = "x-goog-upload-protocol", "x-goog-upload-command", "x-goog-upload-offset"
_TYPE = "x-goog-upload-header-content-type"
_BARE = frozenset({"raw", "media"})
"""The protocols whose body is the file itself."""


class FileMetadata(WireModel):
    name: str = ""
    display_name: str = ""
    mime_type: str = ""
    size_bytes: int | None = None


class UploadRequest(WireModel):
    file: FileMetadata = FileMetadata()


@dataclass(frozen=True, slots=True)
class StoredFile:
    name: str
    key: str
    uri: str
    display_name: str
    mime_type: str
    size: int
    sha256: bytes
    created: datetime

    @property
    def expires(self) -> datetime:
        return self.created + _LIFETIME

    def is_active(self, now: datetime) -> bool:
        return not self.mime_type.startswith("video/") or now >= self.created + _VIDEO_PROCESSING

    def describe(self, now: datetime) -> JsonObject:
        display_name = {"displayName": self.display_name} if self.display_name else {}
        return {
            "name": self.name,
            **display_name,
            "mimeType": self.mime_type,
            "sizeBytes": str(self.size),
            "createTime": timestamp(self.created),
            "updateTime": timestamp(self.created),
            "expirationTime": timestamp(self.expires, nanoseconds=True),
            "sha256Hash": base64.b64encode(self.sha256.hex().encode()).decode(),
            "uri": self.uri,
            "state": "ACTIVE" if self.is_active(now) else "PROCESSING",
            "source": "UPLOADED",
        }


@dataclass(slots=True)
class Upload:
    """A file of which not all bytes have arrived."""

    key: str
    metadata: FileMetadata
    mime_type: str
    data: bytearray


class FileStore(ResourceStore[StoredFile]):
    """The files of every key, and the uploads under way."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, lambda name: file_gone(name.removeprefix("files/")))
        self._uploads: dict[str, Upload] = {}

    def start(self, metadata: FileMetadata, mime_type: str, key: str) -> str:
        """The id of a new upload."""
        self._created += 1
        upload_id = resource_name(f"upload {self._created} {metadata.model_dump_json()}", 40)
        self._uploads[upload_id] = Upload(key, metadata, metadata.mime_type or mime_type, bytearray())
        return upload_id

    def receive(self, upload_id: str, data: bytes, offset: int) -> None:
        """Raises ApiError (400) for an unknown upload and for bytes out of order."""
        upload = self._uploads.get(upload_id)
        if upload is None:
            raise invalid("Upload has already been terminated.", rule=Rule.UPLOAD_INVALID)
        if offset != len(upload.data):
            raise invalid(
                f"Invalid upload offset: {offset}, expected {len(upload.data)}.", rule=Rule.UPLOAD_INVALID
            )
        upload.data += data

    def finish(self, upload_id: str, base: str) -> StoredFile:
        """`base` is the URL under which files live."""
        upload = self._uploads.pop(upload_id)
        wanted = upload.metadata.name.removeprefix("files/")
        name = "files/" + (wanted or resource_name(upload_id, 12))
        file = StoredFile(
            name=name,
            key=upload.key,
            uri=f"{base}/{name}",
            display_name=upload.metadata.display_name,
            mime_type=upload.mime_type or "application/octet-stream",
            size=len(upload.data),
            sha256=hashlib.sha256(upload.data).digest(),
            created=self.clock(),
        )
        return self._add(file)

    def check_references(self, contents: Sequence[Content], key: str) -> None:
        """Raises ApiError for a part that refers to a file of this service that is not there (403) or
        still being processed (400)."""
        references = (part.file_data for content in contents for part in content.parts if part.file_data)
        for reference in references:
            if match := _URI.fullmatch(reference.file_uri):
                file = self.find(match[1], key)
                if not file.is_active(self.clock()):
                    raise file_not_ready(match[1].removeprefix("files/"))


def upload(store: FileStore, route: RouteMatch) -> ApiResponse:
    """A file in one request, multipart or bare, or one request of the resumable protocol, of which the
    header X-Goog-Upload-Command says which."""
    headers = route.request.headers
    protocol = route.request.query.get("uploadType", "") or headers.get(_PROTOCOL, "")
    if protocol == "multipart":
        sent = parse_multipart(headers.get("content-type", ""), route.request.body)
        metadata = parse(UploadRequest, sent.metadata).file
        return _finish(store, route, store.start(metadata, sent.media_type, route.request.key), sent.data)
    if protocol in _BARE:
        media_type = headers.get(_TYPE, "") or headers.get("content-type", "")
        upload_id = store.start(FileMetadata(), media_type, route.request.key)
        return _finish(store, route, upload_id, route.request.body)
    commands = {word.strip() for word in headers.get(_COMMAND, "").split(",")}
    if "start" in commands:
        return _start(store, route)
    if not commands & {"upload", "finalize"}:
        raise invalid("Invalid upload command.", rule=Rule.UPLOAD_INVALID)
    return _receive(store, route, is_last="finalize" in commands)


def _finish(store: FileStore, route: RouteMatch, upload_id: str, data: bytes, offset: int = 0) -> ApiResponse:
    """The last bytes of a file, and the file."""
    store.receive(upload_id, data, offset)
    file = store.finish(upload_id, f"{route.request.base}/{route.version}")
    created = {"file": file.describe(store.clock())}
    return json_response(route.entry, created, headers={"x-goog-upload-status": "final"})


def _start(store: FileStore, route: RouteMatch) -> ApiResponse:
    request = route.request
    metadata = parse(UploadRequest, request.body).file
    upload_id = store.start(metadata, request.headers.get(_TYPE, ""), request.key)
    url = f"{request.base}/upload/{route.version}/files?upload_id={upload_id}&upload_protocol=resumable"
    return json_response(
        route.entry, {}, headers={"x-goog-upload-url": url, "x-goog-upload-status": "active"}
    )


def _receive(store: FileStore, route: RouteMatch, *, is_last: bool) -> ApiResponse:
    upload_id = route.request.query.get("upload_id", "")
    offset = route.request.headers.get(_OFFSET, "0")
    if not (offset.isascii() and offset.isdecimal()):
        raise invalid(f"Invalid upload offset: {offset}", rule=Rule.UPLOAD_INVALID)
    if is_last:
        return _finish(store, route, upload_id, route.request.body, int(offset))
    store.receive(upload_id, route.request.body, int(offset))
    return json_response(route.entry, {}, headers={"x-goog-upload-status": "active"})
