"""Uploaded files: the resumable protocol and the metadata (gemini-wire §2).

The bytes are counted and hashed, then let go: no scenario reads them.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sessions_app.emulator.names import short_name
from sessions_app.emulator.refusals import file_gone, file_not_ready, invalid
from sessions_app.emulator.shapes import Content, FileMetadata

Clock = Callable[[], datetime]

_KEPT = timedelta(hours=48)
_READING = timedelta(milliseconds=300)
"""How long the service reads a video before it can be asked about."""

_URI = re.compile(r".*/v1(?:alpha|beta)?/(files/[^/?]+)")


@dataclass(frozen=True, slots=True)
class File:
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
        return self.created + _KEPT

    def is_read(self, now: datetime) -> bool:
        return not self.mime_type.startswith("video/") or now >= self.created + _READING

    def resource(self, now: datetime) -> dict[str, Any]:
        named = {"displayName": self.display_name} if self.display_name else {}
        return {
            "name": self.name,
            **named,
            "mimeType": self.mime_type,
            "sizeBytes": str(self.size),
            "createTime": f"{self.created:%Y-%m-%dT%H:%M:%S.%fZ}",
            "updateTime": f"{self.created:%Y-%m-%dT%H:%M:%S.%fZ}",
            "expirationTime": f"{self.expires:%Y-%m-%dT%H:%M:%S.%f}000Z",
            "sha256Hash": base64.b64encode(self.sha256.hex().encode()).decode(),
            "uri": self.uri,
            "state": "ACTIVE" if self.is_read(now) else "PROCESSING",
            "source": "UPLOADED",
        }


@dataclass(slots=True)
class Upload:
    """A file on its way."""

    key: str
    metadata: FileMetadata
    mime_type: str
    data: bytearray


class Cabinet:
    """The files of every key. `clock` returns aware UTC times."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._files: dict[str, File] = {}
        self._uploads: dict[str, Upload] = {}
        self._made = 0

    def start(self, metadata: FileMetadata, mime_type: str, key: str) -> str:
        """The id of a new upload."""
        self._made += 1
        upload_id = short_name(f"upload {self._made} {metadata.model_dump_json()}", 40)
        self._uploads[upload_id] = Upload(key, metadata, metadata.mime_type or mime_type, bytearray())
        return upload_id

    def receive(self, upload_id: str, data: bytes, offset: int) -> Upload:
        """Raises Refusal (400) for an unknown upload and for bytes out of order."""
        upload = self._uploads.get(upload_id)
        if upload is None:
            raise invalid("Upload has already been terminated.")
        if offset != len(upload.data):
            raise invalid(f"Invalid upload offset: {offset}, expected {len(upload.data)}.")
        upload.data += data
        return upload

    def finish(self, upload_id: str, base: str) -> File:
        """`base` is the URL under which files live."""
        upload = self._uploads.pop(upload_id)
        wanted = upload.metadata.name.removeprefix("files/")
        name = "files/" + (wanted or short_name(upload_id, 12))
        self._files[name] = File(
            name=name,
            key=upload.key,
            uri=f"{base}/{name}",
            display_name=upload.metadata.display_name,
            mime_type=upload.mime_type or "application/octet-stream",
            size=len(upload.data),
            sha256=hashlib.sha256(upload.data).digest(),
            created=self._clock(),
        )
        return self._files[name]

    def find(self, name: str, key: str) -> File:
        """Raises Refusal (403) alike for a missing, deleted, expired or foreign file."""
        self._sweep()
        file = self._files.get(name)
        if file is None or file.key != key:
            raise file_gone(name.removeprefix("files/"))
        return file

    def delete(self, name: str, key: str) -> None:
        del self._files[self.find(name, key).name]

    def of(self, key: str) -> list[File]:
        self._sweep()
        return [file for file in reversed(self._files.values()) if file.key == key]

    def now(self) -> datetime:
        return self._clock()

    def check(self, contents: Sequence[Content], key: str) -> None:
        """Raises Refusal for a part that points at a file of this service which is not there (403) or is
        still being read (400)."""
        pointers = (part.file_data for content in contents for part in content.parts if part.file_data)
        for pointer in pointers:
            if match := _URI.fullmatch(pointer.file_uri):
                file = self.find(match[1], key)
                if not file.is_read(self._clock()):
                    raise file_not_ready(match[1].removeprefix("files/"))

    def _sweep(self) -> None:
        now = self._clock()
        for name in [name for name, file in self._files.items() if file.expires <= now]:
            del self._files[name]
