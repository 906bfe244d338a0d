"""Items of logical prompts for tests: texts of a layer, and turns."""

from collections.abc import Sequence

from sessions_app.prompt.parts import RawPart
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.prompt.tokens import estimate
from sessions_app.prompt.wire import escaped
from tests.prompt.examples import content, text


def text_item(source: str, said: str, layer: str = "dynamic", start: int | None = None) -> PromptItem:
    body = escaped(said)
    return PromptItem(layer, source, "user", "text", body, estimate(said), len(body), lambda: body, start)


def turn_item(key: str, *parts: str | RawPart, role: str = "user", start: int | None = None) -> PromptItem:
    raw = [text(one) if isinstance(one, str) else one for one in parts]
    return content_item(f"turn:{key}", content(role, *raw), role, start)


def content_item(source: str, body: bytes, role: str = "user", start: int | None = None) -> PromptItem:
    return PromptItem("buffered", source, role, "user_task", body, 100, len(body), lambda: body, start)


def texts_of(layer: str, items: Sequence[tuple[str, str]]) -> list[PromptItem]:
    return [text_item(source, said, layer) for source, said in items]
