"""TeX to MathML, where all of it can be shown.

The converter leaves out what it does not understand: the second half of a fraction whose brace is open, the
rest of a line after a percent sign, a row. So a formula has MathML only if

- its braces are closed, and it has no percent sign without a backslash, which would begin a comment;
- each element has the children that its kind needs, so no argument is missing;
- no command and no mark of TeX is left as text, so each command, row and column was understood;
- something of it is visible.
"""

import re
from functools import lru_cache
from xml.etree.ElementTree import Element, tostring

_KNOWN_AS = {
    "aligned": "align*",
    "equation": "split",
    "equation*": "split",
    "dcases": "cases",
    **dict.fromkeys(("gather", "gather*", "gathered", "multline", "multline*"), "matrix"),
}
"""Environments that the converter supports under other names."""

_ENVIRONMENT = re.compile(rf"\\(begin|end)\{{({'|'.join(map(re.escape, _KNOWN_AS))})\}}")
_ROW_SPACE = re.compile(r"(?<!\\)(?:\\\\)\*?\[\s*-?[\d.]+\s*[a-z]{2}\s*\]")
_EMPTY_CELL = re.compile(r"(?<!\\)&(?=\s*(?:\\end\b|\}|\Z))")
"""At the end of the last row, which the converter leaves out for it."""

_ARG = re.compile(r"\\arg(?![a-zA-Z])")
_OPERATOR = re.compile(r"\\operatorname\*?\{[^{}]*\}")
_SPACE = re.compile(r"\\[,;:! ]|~")
_MARK = re.compile(r"\\.|[{}%]", re.DOTALL)
_ALIGNED = re.compile(r' columnalign="(left|right|center)"')

_COLUMNS = re.compile(
    r"\\begin\{(?!array\}|[a-zA-Z]*matrix\*\})[a-zA-Z*]+\}\s*(?:\{[lcr|\s]+\}|\[[lcr|\s]*\])"
)
"""A cell that the converter takes for a description of columns, which it does not show."""

_UNSHOWN = re.compile(
    r"\\(?:(?:def|newcommand|newenvironment|DeclareMathOperator|mathchoice|unicode|leftroot|uproot)(?![a-zA-Z])"
    r"|(?:class|style|href)(?!\s*\{))"
)
"""Commands that define something or choose among their arguments, and those that take a letter for a name."""

_NOT = re.compile(r"\\not(?![a-zA-Z])")
_NEGATED = re.compile(
    r"\s*(?:[=<>]|\\(?:in|ni|sub|sup|equiv|approx|sim|simeq|cong|l[et]|leq|g[et]|geq|exists|mid|parallel|to|perp"
    r"|prec|succ|models|vdash|propto|(?:sub|sup)set(?:eq)?|(?:left|right|Left|Right|leftright)arrow)(?![a-zA-Z]))"
)
"""What a stroke can go through; with anything else the converter loses what follows."""

_DIMENSION = re.compile(r"[+-]{0,2}(?:\d+\.?\d*|\.\d+)\s*(?:[a-z]{2}|width)|0|[a-z]+mathspace")
_COLOUR = re.compile(r"[a-zA-Z]{3,}|#[0-9a-fA-F]{3,8}")
_MEASURES = {
    **dict.fromkeys(("width", "height", "depth", "voffset", "lspace", "rspace", "linethickness"), _DIMENSION),
    **dict.fromkeys(("mathcolor", "mathbackground"), _COLOUR),
}
"""Attributes that the converter makes of the argument of a command, whatever it is."""

_CHILDREN = {
    **dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2),
    **dict.fromkeys(("msubsup", "munderover"), 3),
}
_LEFT_OVER = frozenset("{}&#%_^$")
"""Marks of TeX; what is written with a backslash is a number in the converter's text."""

_ESCAPED = re.compile(r"\\([%$#&_{}])")


@lru_cache(maxsize=1_024)
def mathml(tex: str, *, display: bool) -> str | None:
    """Not sanitised; None where a part of it would not be shown, or would be shown as something else."""
    known = _EMPTY_CELL.sub("&{}", _ROW_SPACE.sub(r"\\\\", _ENVIRONMENT.sub(_other_name, tex)))
    known = _OPERATOR.sub(_without_spaces, _ARG.sub(r"\\operatorname{arg}", known))
    in_rows = [rf"\begin{{matrix}}{known}\end{{matrix}}"] if r"\\" in known else []
    made = (_converted(one, display=display) for one in (known, *in_rows) if _is_closed(one))
    return next((_serialised(one) for one in made if one is not None), None)


def _converted(tex: str, *, display: bool) -> Element | None:
    # A megabyte that most installations never need.
    from latex2mathml import exceptions
    from latex2mathml.converter import convert_to_element

    own = [one for one in vars(exceptions).values() if isinstance(one, type) and issubclass(one, Exception)]
    # The last for a command at the end that wants more.
    python = (RecursionError, ValueError, LookupError, TypeError, AttributeError, StopIteration)
    unreadable: tuple[type[Exception], ...] = (*own, *python)
    try:
        made = convert_to_element(tex, display="block" if display else "inline")
    except unreadable:
        return None
    for text in made.iter("mtext"):
        text.text = _ESCAPED.sub(r"\1", text.text or "")
    return made if _is_whole(made) else None


def _is_closed(tex: str) -> bool:
    """Whether the braces are in pairs and nothing is a comment, an entity or a description of columns."""
    depth = 0
    for mark in _MARK.findall(tex):
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if mark == "%" or depth < 0:
            return False
    if depth or "&#" in tex or _COLUMNS.search(tex) or _UNSHOWN.search(tex):
        return False
    return all(_NEGATED.match(tex, one.end()) for one in _NOT.finditer(tex))


def _is_whole(made: Element) -> bool:
    parts = list(made.iter())
    is_visible = any(part.text or part.tag == "mspace" for part in parts)
    return is_visible and all(_has_its_arguments(part) and _is_understood(part) for part in parts)


def _has_its_arguments(part: Element) -> bool:
    measures = [(_MEASURES[name], said) for name, said in part.items() if name in _MEASURES]
    has_children = len(part) == _CHILDREN.get(part.tag, len(part))
    return has_children and all(form.fullmatch(said) for form, said in measures)


def _is_understood(part: Element) -> bool:
    text = part.text or ""
    match part.tag:
        case "mi" | "mn" | "mo" if text in _LEFT_OVER or "\\" in text:
            return False
        case "mo":
            return bool(text or len(part) or part.get("fence"))
        case "mspace":
            return part.get("linebreak") is None
        case "menclose":
            # Without its frame it says the same; without its stroke it does not.
            return part.get("notation") == "box"
    return "\\" not in text


def _serialised(made: Element) -> str:
    """The converter writes characters as numbers, into the text."""
    written = tostring(made, encoding="unicode").replace("&amp;#x", "&#x")
    # MathML Core dropped the attribute; the stylesheet aligns by class.
    return _ALIGNED.sub(r' class="align-\1"', written)


def _without_spaces(operator: re.Match[str]) -> str:
    return _SPACE.sub(" ", operator[0])


def _other_name(found: re.Match[str]) -> str:
    return f"\\{found[1]}{{{_KNOWN_AS[found[2]]}}}"
