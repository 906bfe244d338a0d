"""Resources at the provider as plain values: caches, models, uploaded files.

The provider stores a file for two days (gemini-wire §2).
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from google.genai import types
from google.genai.client import AsyncClient

from sessions_app.errors import BadRequest, BrokenStream, ProviderDown
from sessions_app.prompt.chunks import as_count

LONGEST_WAIT = 300.0
"""Seconds that the provider may take to read a file; an hour of video takes about a minute."""

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0

CACHE_NAME_LIMIT, URI_LIMIT = 120, 300
"""Characters that the columns of `CacheEntry.name` and `Attachment.uri` hold."""


@dataclass(frozen=True, slots=True)
class CacheCreated:
    """A new cache entry at the provider.

    `name` is `cachedContents/…`, `expires` an aware time, `tokens` the provider's own count.
    """

    name: str
    expires: datetime | None
    tokens: int


@dataclass(frozen=True, slots=True)
class CacheListed:
    """A cache entry as the provider lists it; contents are never echoed (gemini-wire §7)."""

    name: str
    model: str
    display_name: str
    expires: datetime | None
    tokens: int


@dataclass(frozen=True, slots=True)
class ModelListed:
    """A model as the provider lists it; `name` without `models/`, limits in tokens (0: unknown)."""

    name: str
    display_name: str
    input_limit: int
    output_limit: int
    methods: tuple[str, ...]


def cache_created(cache: types.CachedContent) -> CacheCreated:
    """Raises BrokenStream where the name is none that can be stored and sent."""
    return CacheCreated(_checked_name(cache.name, CACHE_NAME_LIMIT), cache.expire_time, _tokens(cache))


def cache_listed(cache: types.CachedContent) -> CacheListed:
    return CacheListed(
        name=_checked_name(cache.name, CACHE_NAME_LIMIT),
        model=(cache.model or "").removeprefix("models/"),
        display_name=cache.display_name or "",
        expires=cache.expire_time,
        tokens=_tokens(cache),
    )


def model_listed(model: types.Model) -> ModelListed:
    return ModelListed(
        name=(model.name or "").removeprefix("models/"),
        display_name=model.display_name or "",
        input_limit=model.input_token_limit or 0,
        output_limit=model.output_token_limit or 0,
        methods=tuple(model.supported_actions or ()),
    )


def _checked_name(name: str | None, longest: int) -> str:
    """A part of it would be the name of something else, so none is cut or mended."""
    if not name or len(name) > longest or not name.isascii() or not name.isprintable():
        raise BrokenStream("The provider gave something a name that no request can use.")
    return name


def _tokens(cache: types.CachedContent) -> int:
    """What is no count says nothing, as where there is none."""
    usage = cache.usage_metadata
    return as_count(usage.total_token_count if usage else None) or 0


@dataclass(frozen=True, slots=True)
class ProviderFile:
    """A file at the provider: the URI for a part, and when it expires."""

    uri: str
    expires: datetime | None


def file_name(uri: str) -> str:
    """`files/…`, by which a file is deleted, from the address by which parts name it."""
    return f"files/{uri.rstrip('/').rpartition('/')[2]}"


async def upload(client: AsyncClient, body: bytes, *, mime: str, name: str) -> ProviderFile:
    """Uploads a file and waits until the provider has processed it.

    Raises BadRequest when the provider cannot read it, ProviderDown after LONGEST_WAIT, BrokenStream where it
    does not say how to name the file.
    """
    config = types.UploadFileConfig(mime_type=mime, display_name=name)
    try:
        file = await client.files.upload(file=BytesIO(body), config=config)
    except (KeyError, ValueError) as error:
        raise BrokenStream("The provider did not answer an upload in the way of its protocol.") from error
    file = await _wait_until_processed(client, file)
    if file.state == types.FileState.FAILED:
        reason = (file.error.message if file.error else "") or "It does not say why."
        raise BadRequest(f"The provider could not read “{name}”.", hint=f"{reason} Try another format.")
    return ProviderFile(_checked_name(file.uri, URI_LIMIT), file.expiration_time)


async def _wait_until_processed(client: AsyncClient, file: types.File) -> types.File:
    pause, waited = FIRST_PAUSE, 0.0
    while file.state == types.FileState.PROCESSING:
        if waited > LONGEST_WAIT:
            raise ProviderDown("The provider is still reading the file.", hint="Try again in a few minutes.")
        await asyncio.sleep(pause)
        waited, pause = waited + pause, min(pause * 2, LONGEST_PAUSE)
        file = await client.files.get(name=file.name or "")
    return file
