"""What a captured request was made of, and where it leaves the one before it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sessions_app.capture.cutting import CutBody, cut
from sessions_app.models import CapturedRequest
from sessions_app.prompt.logical_prompt import SharedPrefix
from sessions_app.prompt.payload import Item
from sessions_app.prompt.prefix_diff import BreakLine
from sessions_app.prompt.prompt_comparison import compare_prompts
from sessions_app.prompt.prompt_items import PromptItem
from sessions_app.wording import capture


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """An item of a request, and whether the request before began with it as well."""

    item: Item
    is_same: bool

    @property
    def kind(self) -> str:
        return capture.KINDS[self.item.kind]


@dataclass(frozen=True, slots=True)
class CapturedPrompt:
    """`before` is the request that it is compared with; `shared` what both prompts begin with; `broken` says
    what made them part, None where this one begins with all of the other.
    """

    body: CutBody
    items: tuple[ComparedItem, ...]
    before: CapturedRequest | None = None
    shared: SharedPrefix | None = None
    broken: BreakLine | None = None

    @property
    def tokens(self) -> int:
        """Estimated."""
        return sum(one.item.tokens for one in self.items)


def captured_prompt(row: CapturedRequest) -> CapturedPrompt:
    body = cut(_body(row))
    before = _before(row)
    if before is None:
        return CapturedPrompt(body, tuple(ComparedItem(item, is_same=False) for item in body.prompt))
    found = compare_prompts(prompt_items(cut(_body(before)).prompt), prompt_items(body.prompt))
    items = tuple(ComparedItem(item, is_same=at < found.shared.items) for at, item in enumerate(body.prompt))
    return CapturedPrompt(body, items, before, found.shared, found.broken)


def prompt_items(items: Sequence[Item]) -> list[PromptItem]:
    """The items as prompts are compared: by what they say, not by their bytes."""
    return [
        PromptItem(
            item.layer.value,
            item.source,
            item.role,
            item.kind,
            item.sha256,
            item.tokens,
            len(item.wire),
            partial(bytes, item.wire),
            item.start,
        )
        for item in items
    ]


def _before(row: CapturedRequest) -> CapturedRequest | None:
    """The request that it goes on from, else the last one before it in its lane."""
    rows = CapturedRequest.objects.filter(address_id=row.address_id).exclude(pk=row.pk)
    rows = rows.exclude(request_body=None).select_related("request_body")
    if not row.lane:
        return None
    in_lane = rows.filter(session=row.session, lane=row.lane, pk__lt=row.pk).order_by("-pk")
    known = in_lane.filter(public=row.before).first() if row.before else None
    return known or in_lane.first()


def _body(row: CapturedRequest) -> bytes:
    return row.request_body.bytes if row.request_body else b""
