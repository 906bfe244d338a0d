"""Uploading files to the provider, which keeps them for two days (gemini-wire §2)."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from google.genai import types
from google.genai.client import AsyncClient

from sessions_app.errors import BadRequest, BrokenStream, ProviderDown

LONGEST_WAIT = 300.0
"""Seconds that the provider may take to read a file; an hour of video takes about a minute."""

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0


@dataclass(frozen=True, slots=True)
class FileKept:
    """A file at the provider: the address that a part names, and when it goes."""

    uri: str
    expires: datetime | None


async def upload(client: AsyncClient, body: bytes, *, mime: str, name: str) -> FileKept:
    """Sends a file and waits until it can be asked about.

    Raises BadRequest when the provider cannot read it, ProviderDown when it does not come to an end.
    """
    config = types.UploadFileConfig(mime_type=mime, display_name=name)
    try:
        file = await client.files.upload(file=BytesIO(body), config=config)
    except (KeyError, ValueError) as error:
        raise BrokenStream("The provider did not answer an upload in the way of its protocol.") from error
    file = await _settled(client, file)
    if file.state == types.FileState.FAILED:
        why = (file.error.message if file.error else "") or "It does not say why."
        raise BadRequest(f"The provider could not read “{name}”.", hint=f"{why} Try another format.")
    return FileKept(file.uri or "", file.expiration_time)


async def _settled(client: AsyncClient, file: types.File) -> types.File:
    pause, waited = FIRST_PAUSE, 0.0
    while file.state == types.FileState.PROCESSING:
        if waited > LONGEST_WAIT:
            raise ProviderDown("The provider is still reading the file.", hint="Try again in a few minutes.")
        await asyncio.sleep(pause)
        waited, pause = waited + pause, min(pause * 2, LONGEST_PAUSE)
        file = await client.files.get(name=file.name or "")
    return file
