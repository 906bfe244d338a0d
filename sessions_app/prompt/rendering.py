"""The two prompt templates, rendered into segments.

A template marks where a source begins and ends with three Unicode noncharacters. The `json`
filter escapes those in every value, so no input can forge a mark, and the rendered text splits
into segments whose join is the text. A source that did not change keeps its bytes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2

from sessions_app.prompt import wire
from sessions_app.prompt.tokens import estimate

TEMPLATES = Path(__file__).resolve().parents[2] / "templates" / "prompt"

_BEGIN, _NAMED, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARKED = re.compile(f"{_BEGIN}([^{_NAMED}]*){_NAMED}([^{_END}]*){_END}")
_HIDDEN = str.maketrans({mark: f"\\u{ord(mark):04x}" for mark in (_BEGIN, _NAMED, _END)})


# No slots here: what is worked out once stays with the segment, and a history chunk keeps its segment.
@dataclass(frozen=True)
class Segment:
    """A piece of a rendered layer and the source it comes from (`template:static`, `chunk:<key>`)."""

    source: str
    text: str

    @cached_property
    def wire(self) -> bytes:
        """As it stands in the body: inside a JSON string."""
        return wire.escaped(self.text)

    @cached_property
    def sha256(self) -> str:
        return sha256(self.wire).hexdigest()

    @cached_property
    def tokens(self) -> int:
        return estimate(self.text)


def render(name: str, values: Mapping[str, Any], *, source: str) -> tuple[Segment, ...]:
    """Render a template of templates/prompt; text outside any mark belongs to `source`."""
    return tuple(_split(_environment().get_template(name).render(values), source))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        # The output is JSON for a model, never HTML: every value passes the json filter instead.
        autoescape=False,  # noqa: S701
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {"json": json_text, "marked": _marked}
    return environment


def json_text(value: Any) -> str:
    """JSON as a layer shows it: no value can forge the mark of a source."""
    return wire.dumps(value).decode().translate(_HIDDEN)


def _marked(text: str, source: str) -> str:
    return f"{_BEGIN}{json_text(source)}{_NAMED}{text}{_END}"


def _split(text: str, source: str) -> list[Segment]:
    segments: list[Segment] = []
    at = 0
    for found in _MARKED.finditer(text):
        segments += _plain(text[at : found.start()], source)
        segments.append(Segment(wire.loads(found[1]), found[2]))
        at = found.end()
    return segments + _plain(text[at:], source)


def _plain(text: str, source: str) -> list[Segment]:
    return [Segment(source, text)] if text else []
