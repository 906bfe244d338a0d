"""What a person should know of the texts of a prompt, in words."""

from collections.abc import Iterator, Sequence
from typing import Literal

from sessions_app.context.static import WrittenText


def remarks(written: WrittenText) -> Iterator[str]:
    """What a person should know of one text, in words."""
    title, rendered = written.text.title, written.rendered
    if rendered.status == "fallback":
        where = f"line {rendered.line}: " if rendered.line else ""
        yield f"{title} was sent as it was written: {where}{rendered.reason}"
    elif rendered.status == "rendered":
        yield f"{title} was rendered"
    if rendered.undefined:
        yield f"{title} names what has no value: {', '.join(rendered.undefined)}"
    for one in written.breakers:
        yield (
            f"{title} line {one.line} uses {one.path}: "
            f"it breaks the cache of the whole static layer {one.how_often}"
        )
    if written.text.is_dynamic and written.body:
        yield f"{title} stands in the dynamic layer"


def worst(texts: Sequence[WrittenText]) -> Literal["fallback", "noticed", "ok"]:
    """How rendering all of them ended."""
    if any(each.rendered.status == "fallback" for each in texts):
        return "fallback"
    return "noticed" if any(each.breakers or each.rendered.undefined for each in texts) else "ok"


def summary(texts: Sequence[WrittenText]) -> tuple[str, ...]:
    """A line for the texts that were sent as written and one for those that break a cache."""
    failed = [each.text.title for each in texts if each.rendered.status == "fallback"]
    breaking = [each.text.title for each in texts if each.breakers]
    lines = []
    if failed:
        lines.append(f"{_count(failed)} sent as written: {', '.join(failed)}.")
    if breaking:
        verb = "breaks" if len(breaking) == 1 else "break"
        lines.append(f"{_count(breaking, '')} {verb} the cache: {', '.join(breaking)}.")
    return tuple(lines)


def _count(titles: Sequence[str], verb: str = "is") -> str:
    if len(titles) == 1:
        return f"1 text {verb}".strip()
    return f"{len(titles)} texts {'are' if verb else ''}".strip()
