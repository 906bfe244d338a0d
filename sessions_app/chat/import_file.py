"""A JSON file to import, read element by element: it is mapped into memory and never parsed as a whole."""

import mmap
import re
from collections.abc import Callable, Iterator
from json import JSONDecodeError
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from sessions_app.error_codes import ImportProblem
from sessions_app.errors import NotImportable
from sessions_app.prompt import wire
from sessions_app.values import DEPTH_LIMIT, STRING, ValueProblem, check_json, check_nesting, refused
from sessions_app.wording.values import problem_of

T = TypeVar("T")

WINDOW = 2**22
"""Bytes of the file that are read before its pages in memory are given back."""

_TOKEN = re.compile(STRING + rb'|[\[\]{}"]', re.DOTALL)
_STRING = re.compile(STRING, re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb'[^ \t\r\n,\[\]{}":]++')
_TEXT = TypeAdapter(str)
_MARK = b"\xef\xbb\xbf"
"""The byte order mark that some programs write in front of UTF-8."""


def _checked_value(body: bytes) -> Any:
    check_nesting(body)
    try:
        return check_json(wire.loads(body), in_bytes=True)
    except JSONDecodeError as error:
        figures = {"line": error.lineno, "column": error.colno, "problem": error.msg}
        raise refused(ValueProblem.NOT_JSON, **figures) from error


_VALUE: TypeAdapter[Any] = TypeAdapter(Annotated[Any, BeforeValidator(_checked_value)])


class Element(NamedTuple):
    """One value of the file; `where` is its path for the person (`turns.3`)."""

    where: str
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class ImportFile:
    """A JSON file. Methods raise NotImportable with the place of what is wrong.

    The syntax of the lists and objects that are iterated is checked here, that of elements when they are
    parsed.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            # An empty file cannot be mapped.
            size = path.stat().st_size
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(self._data, mmap.mmap):
            self._data.close()

    def root(self) -> Element:
        """The object or the list that is the file."""
        start = self._skip_space(len(_MARK) if self._data[: len(_MARK)] == _MARK else 0)
        end = self._end(start)
        if self._skip_space(end) != len(self._data):
            raise _not_json(end)
        if self._data[start : start + 1] not in (b"{", b"["):
            raise NotImportable(ImportProblem.UNKNOWN_FORMAT) if self._is_json(start, end) else _not_json(end)
        return Element("", start, end)

    def _is_json(self, start: int, end: int) -> bool:
        """Whether a single value is well-formed."""
        try:
            wire.loads(self._data[start:end])
        except ValueError:
            return False
        return True

    def is_object(self, element: Element) -> bool:
        return self._data[element.start : element.start + 1] == b"{"

    def is_list(self, element: Element) -> bool:
        return self._data[element.start : element.start + 1] == b"["

    def members(self, of: Element) -> Iterator[tuple[str, Element]]:
        """The names and values of an object."""
        position = self._first(of, b"{", b"}")
        while position is not None:
            name = _STRING.match(self._data, position)
            colon = self._skip_space(name.end()) if name else position
            if name is None or self._data[colon : colon + 1] != b":":
                raise _not_json(position)
            key = self._name(*name.span())
            start = self._skip_space(colon + 1)
            element = Element(f"{of.where}.{key[:80]}".removeprefix("."), start, self._end(start))
            yield key, element
            position = self._following(element, b"}")

    def _name(self, start: int, end: int) -> str:
        try:
            return _TEXT.validate_json(self._data[start:end])
        except ValidationError as error:
            raise _not_json(start) from error

    def items(self, of: Element) -> Iterator[Element]:
        """The items of a list."""
        position, place = self._first(of, b"[", b"]"), 0
        while position is not None:
            element = Element(f"{of.where}.{place}", position, self._end(position))
            yield element
            position, place = self._following(element, b"]"), place + 1

    def value(self, element: Element) -> Any:
        """The value as it is, within the limits of `sessions_app.values`, of a file that we did not write."""
        return self._validated(_VALUE.validate_python, element, ImportProblem.NOT_KEPT)

    def parse(self, kind: TypeAdapter[T], element: Element) -> T:
        return self._validated(kind.validate_json, element)

    def _validated(
        self, validate: Callable[[bytes], T], element: Element, reason: ImportProblem = ImportProblem.WRONG
    ) -> T:
        body = self._data[element.start : element.end]
        self._release(len(body))
        try:
            return validate(body)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if isinstance(undecodable := first.get("ctx", {}).get("error"), UnicodeDecodeError):
                raise _not_json(element.start + undecodable.start) from error
            steps = [element.where, *map(str, first["loc"])]
            where = ".".join(step for step in steps if step)
            raise NotImportable(reason, where=where[:200], problem=problem_of(error)) from error

    def _release(self, read: int) -> None:
        """Gives pages back when another so many bytes were read."""
        self._read += read
        if self._read > WINDOW and isinstance(self._data, mmap.mmap):
            self._data.madvise(mmap.MADV_DONTNEED)
            self._read = 0

    def _first(self, of: Element, opening: bytes, closing: bytes) -> int | None:
        """Where the first entry begins; None without entries."""
        if self._data[of.start : of.start + 1] != opening:
            raise NotImportable(
                ImportProblem.WRONG, where=of.where, problem=f"“{opening.decode()}” is missing."
            )
        position = self._skip_space(of.start + 1)
        return None if self._data[position : position + 1] == closing else position

    def _following(self, element: Element, closing: bytes) -> int | None:
        position = self._skip_space(element.end)
        token = self._data[position : position + 1]
        if token not in (b",", closing):
            raise _not_json(position)
        return None if token == closing else self._skip_space(position + 1)

    def _skip_space(self, position: int) -> int:
        space = _SPACE.match(self._data, position)
        return space.end() if space else position

    def _tokens(self, start: int) -> Iterator[re.Match[bytes]]:
        released = start
        for token in _TOKEN.finditer(self._data, start):
            if token.end() - released > WINDOW:
                self._release(token.end() - released)
                released = token.end()
            yield token

    def _end(self, start: int) -> int:
        """The end of the value that begins here."""
        single = _STRING.match(self._data, start) or _SCALAR.match(self._data, start)
        if single is not None:
            return single.end()
        depth = 0
        for token in self._tokens(start):
            match self._data[token.start() : token.start() + 1]:
                case b"[" | b"{":
                    depth += 1
                case b"]" | b"}":
                    depth -= 1
                case _ if token.end() == token.start() + 1:
                    raise _not_json(token.start())  # a string without an end
            if depth > DEPTH_LIMIT:
                raise NotImportable(ImportProblem.TOO_DEEP, byte=token.start(), limit=DEPTH_LIMIT)
            if depth < 1:
                return token.end() if depth == 0 else start
        raise _not_json(len(self._data))


def _not_json(position: int) -> NotImportable:
    return NotImportable(ImportProblem.NOT_JSON, byte=position)
