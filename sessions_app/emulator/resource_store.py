"""What cached contents and uploaded files have in common: names, timestamps, owners and expiry."""

import hashlib
from collections.abc import Callable
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.wire_model import JsonObject

Clock = Callable[[], datetime]

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"


class Resource(Protocol):
    """`key` is the API key of its owner; `expires` an aware time."""

    @property
    def name(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def expires(self) -> datetime: ...
    def describe(self, now: datetime) -> JsonObject:
        """The resource as the API returns it at `now`."""


R = TypeVar("R", bound=Resource)


class ResourceStore(Generic[R]):
    """Resources of one kind by full name, in order of creation. `clock` returns aware UTC times."""

    def __init__(self, clock: Clock, not_found: Callable[[str], ApiError]) -> None:
        self.clock = clock
        self._not_found = not_found
        self._resources: dict[str, R] = {}
        self._created = 0

    def find(self, name: str, key: str) -> R:
        """Raises ApiError (403) alike for a missing, deleted or expired resource and another key's."""
        self._delete_expired()
        found = self._resources.get(name)
        if found is None or found.key != key:
            raise self._not_found(name)
        return found

    def delete(self, name: str, key: str) -> None:
        self._remove(self.find(name, key))

    def all(self) -> list[R]:
        """The resources of all keys, newest first."""
        self._delete_expired()
        return list(reversed(self._resources.values()))

    def owned_by(self, key: str) -> list[R]:
        return [resource for resource in self.all() if resource.key == key]

    def _add(self, resource: R) -> R:
        self._resources[resource.name] = resource
        return resource

    def _delete_expired(self) -> None:
        now = self.clock()
        for found in [found for found in self._resources.values() if found.expires <= now]:
            self._remove(found)

    def _remove(self, resource: R) -> None:
        del self._resources[resource.name]


def resource_name(seed: str, length: int) -> str:
    """At most 49 lower-case letters and digits, the same for the same seed."""
    number, letters = int.from_bytes(hashlib.sha256(seed.encode()).digest(), "big"), ""
    for _ in range(length):
        number, digit = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[digit]
    return letters


def timestamp(moment: datetime, *, nanoseconds: bool = False) -> str:
    """Google writes expiry times with nine decimal places and other times with six."""
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}{'000' if nanoseconds else ''}Z"
