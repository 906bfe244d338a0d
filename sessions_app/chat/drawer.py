"""The drawer beside a chat: panels, notices of the last request, history chunks."""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from sessions_app.accounts.requests import AuthenticatedRequest, own_chat
from sessions_app.errors import HistoryGone
from sessions_app.models import HistoryChunk, Session, Turn
from sessions_app.panels.panel_list import PanelList
from sessions_app.prompt.remarks import RemarkCode
from sessions_app.prompt.stage_records import STAGES, StageName, StageRecord, StageStatus
from sessions_app.wording import stages as wording
from sessions_app.wording.remarks import sentence

ALWAYS_SHOWN: frozenset[str] = frozenset({StageStatus.FALLBACK, StageStatus.REPAIRED, StageStatus.BLOCKED})

SHOWN_STAGES: frozenset[str] = frozenset(
    {StageName.PREPARE_ARGUMENTS, StageName.RENDER_TEMPLATES, StageName.CHECK}
)
"""Stages whose remarks concern the person's own input; problems of panels are shown at the panel."""

HIDDEN_REMARKS: frozenset[str] = frozenset({RemarkCode.TEXT_RENDERED})

LINE_LIMIT = 4


@dataclass(frozen=True, slots=True)
class Notice:
    """Remarks about one exchange, by its `number`."""

    number: int
    lines: tuple[str, ...]
    more: int = 0


def notice_of(session: Session) -> Notice | None:
    """None without a request or a remark. One query."""
    last = session.exchanges.order_by("-number").only("number", "stages").first()
    if last is None:
        return None
    lines = [line for record in STAGES.validate_python(last.stages or ()) for line in _lines(record)]
    return Notice(last.number, tuple(lines[:LINE_LIMIT]), max(0, len(lines) - LINE_LIMIT)) if lines else None


def _lines(record: StageRecord) -> list[str]:
    is_noticed = record.status == StageStatus.NOTICED and record.name in SHOWN_STAGES
    if record.status not in ALWAYS_SHOWN and not is_noticed:
        return []
    sentences = [sentence(remark) for remark in record.remarks if remark.code not in HIDDEN_REMARKS]
    return sentences or [wording.input_and_output(record)[1]]


@dataclass(frozen=True, slots=True)
class Drawer:
    list: PanelList
    notice: Notice | None
    has_chunks: bool

    @classmethod
    def of(cls, session: Session) -> Self:
        chunks = session.history_chunks.exists()
        return cls(PanelList.of(session), notice_of(session), chunks)


@login_required
@require_safe
def details(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    session = own_chat(request, public, "assistant")
    return render(request, "chat/drawer.html", {"session": session, "drawer": Drawer.of(session)})


@login_required
@require_safe
def chunks(request: AuthenticatedRequest, public: UUID) -> HttpResponse:
    """The history chunks that the next request would send."""
    session = own_chat(request, public)
    try:
        buffered = Turn.objects.buffered(session.head_id)
    except HistoryGone as error:
        raise Http404 from error
    keys = [int(chunk.key) for chunk in HistoryChunk.objects.chain(buffered.chunk)]
    found = HistoryChunk.objects.filter(session=session, pk__in=keys)
    return render(
        request, "chat/chunks.html", {"session": session, "chunks": found, "live": len(buffered.turns)}
    )


@login_required
@require_safe
def chunk(request: AuthenticatedRequest, public: UUID, number: int) -> HttpResponse:
    """The text of one history chunk."""
    session = own_chat(request, public)
    found = get_object_or_404(session.history_chunks.select_related("content"), pk=number)
    return render(request, "panels/raw.html", {"text": found.content.bytes.decode()})
