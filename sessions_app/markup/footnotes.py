"""Footnotes: `[^1]` in a text, and `[^1]: …` where the note stands.

A note is shown where it is written and under its own label, so that a text in pieces is shown as the whole
one. A label with a number always refers to a note; any other one only behind its note, since `[^a-z]` is
mostly a pattern.
"""

import re
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType
from mdit_py_plugins.footnote.index import footnote_def

_REFERENCE = re.compile(r"\[\^([\w-]{1,40})\]")
_DEFINITION = re.compile(r"\[\^([\w-]{1,40})\]:")
_NUMBERED = re.compile(r"(?:[^\W\d_]+[-_]?)?\d{1,4}")


def footnotes(parser: MarkdownIt) -> None:
    parser.block.ruler.before("reference", "footnote", _definition, {"alt": ["paragraph", "reference"]})
    parser.inline.ruler.before("link", "footnote_ref", _reference)


def copied(env: EnvType) -> EnvType:
    """What rendering adds to the copy is not in `env`."""
    noted = {name: set(labels) for name, labels in env.get("notes", {}).items()}
    return {**env, "references": dict(env.get("references", {})), "notes": noted}


def note_open(token: Token, env: EnvType) -> str:
    label, scope = token.meta["label"], env.get("scope", "")
    first = _is_first(env, "written", label)
    place = f' id="{escape(scope)}note-{label}"' if first else ""
    back = f'<a href="#{escape(scope)}noted-{label}">{label}</a>'
    return f'<div class="note"{place}><span class="label">{back}</span>\n<div class="note-text">'


def note_close() -> str:
    return "</div></div>\n"


def note_reference(token: Token, env: EnvType) -> str:
    label, scope = token.meta["label"], env.get("scope", "")
    place = f' id="{escape(scope)}noted-{label}"' if _is_first(env, "referred", label) else ""
    return f'<sup class="noted"{place}><a href="#{escape(scope)}note-{label}">{label}</a></sup>'


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    found = _DEFINITION.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if found is None or not footnote_def(state, start, end, silent):
        return False
    if not silent:
        _labels(state.env, "known").add(found[1])
    return True


def _reference(state: StateInline, silent: bool) -> bool:
    found = _REFERENCE.match(state.src, state.pos, state.posMax)
    if found is None or not _is_note(found[1], state.env):
        return False
    if not silent:
        state.push("footnote_ref", "", 0).meta = {"label": found[1]}
    state.pos = found.end()
    return True


def _is_note(label: str, env: EnvType) -> bool:
    return _NUMBERED.fullmatch(label) is not None or label in _labels(env, "known")


def _is_first(env: EnvType, name: str, label: str) -> bool:
    """Whether nothing with this label has been rendered yet: ids are unique."""
    labels = _labels(env, name)
    is_first = label not in labels
    labels.add(label)
    return is_first


def _labels(env: EnvType, name: str) -> set[Any]:
    labels: set[Any] = env.setdefault("notes", {}).setdefault(name, set())
    return labels
