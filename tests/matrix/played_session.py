"""A scripted session with every operation of the matrix; the emulator's journal and the audit judge it."""

import uuid
from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from io import BytesIO
from typing import Any

import httpx2
from django.contrib.auth.models import User
from django.db.models import F

from sessions_app.audit.rows import SessionRows
from sessions_app.audit.savings import saving_findings
from sessions_app.emulator.decisions import Decision
from sessions_app.emulator.journal import Journal
from sessions_app.management.shown_money import shown_session
from sessions_app.models import Attachment, Exchange, Todo, Turn
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.turns import TurnKind
from sessions_app.runs import history_edits
from tests.matrix.journaled_prompts import JournaledPrompts, claimed_place
from tests.runs.mortal_process import in_database_thread
from tests.runs.scripted_session import AGED, MODEL, ScriptedSession

OTHER_MODEL = "gemini-2.5-flash"
TALK = "What do you make of it? " * 60
CHUNK = TALK * 2
"""One message of it is a history chunk where history rolls early, whatever stands before it."""

REQUESTS_KEPT = 2_000
LONG_SESSION = 220
PIXEL = b"\x89PNG\r\n\x1a\n"
"""How an image begins."""


class PlayedSession(ScriptedSession):
    """`delay` is how many seconds the provider takes to make a cache, by its clock and by ours."""

    def __init__(self, owner: User, background: str, *, delay: int = 0, **settings: Any) -> None:
        super().__init__(owner, background, **settings)
        self.delay = delay
        self.background = background
        self.provider.emulator.journal = Journal(REQUESTS_KEPT)
        self.edits = 0
        self._slow_down()

    def _slow_down(self) -> None:
        inner = self.provider.handle_async_request

        async def handle(request: httpx2.Request) -> httpx2.Response:
            response = await inner(request)
            if request.method == "POST" and request.url.path.endswith("/cachedContents"):
                self.provider.skip(self.delay)
            return response

        self._replace(handle)

    def _replace(self, handle: Callable[[httpx2.Request], Coroutine[Any, Any, httpx2.Response]]) -> None:
        self.provider.handle_async_request = handle  # type: ignore[method-assign, assignment]

    def talk(self, *, rounds: int = 0, more: str = "", files: Collection[uuid.UUID] = ()) -> None:
        before = self.provider.ahead
        self.said += 1
        text = f"task=t{self.said} rounds={rounds} calls=1 {more}"
        self.run(self.process.runner.send(self.session.pk, uuid.uuid4(), text, files=files))
        self._age(self.provider.ahead - before)

    def run(self, work: Any) -> None:
        self.process.call(work)
        self.process.drain()

    def _age(self, span: timedelta) -> None:
        """What the provider's clock went ahead, ours does as well."""
        if span:
            for model, columns in AGED.items():
                model._base_manager.update(**{name: F(name) - span for name in columns})

    def idle(self) -> None:
        self.wait(60)

    def edit_text(self) -> None:
        self.edits += 1
        self.change(background=f"Version {self.edits}. {self.background}")

    def change_panel(self) -> None:
        """The person adds a todo: a panel without rows is not sent."""
        self.edits += 1
        Todo.objects.add_to(self.session, f"Errand {self.edits}")

    def change_tools(self) -> None:
        self.session.refresh_from_db()
        self.change(settings={"tools": [] if self.session.settings["tools"] else ["add_todo"]})

    def change_model(self) -> None:
        self.session.refresh_from_db()
        self.change(model=MODEL if self.session.model == OTHER_MODEL else OTHER_MODEL)

    def change_settings(self) -> None:
        self.session.refresh_from_db()
        was = self.session.settings.get("temperature")
        self.change(settings={"temperature": 0.5 if was == 0.25 else 0.25})

    def switch_branch(self) -> None:
        """Words a message anew, and goes back to the branch of the first wording."""
        self.session.refresh_from_db()
        branch = Turn.objects.branch(self.session.head_id)
        asked = next(turn for turn in reversed(branch) if turn.kind == TurnKind.USER_TASK)
        text = f"task=e{self.said} rounds=0 calls=1"
        self.run(self.process.runner.edit(self.session.pk, uuid.uuid4(), asked.public, text))
        in_database_thread(lambda: history_edits.switch_branch(self.session.pk, branch[-1].public))

    def roll_over(self) -> None:
        self.change(settings={"tools": ["add_todo"]})
        for _ in range(2):
            self.talk(rounds=2, more=CHUNK)

    def refuse_caches(self) -> None:
        self.provider.refuses = True
        self.edit_text()

    def retry(self) -> None:
        run = self.session.runs.latest("pk")
        self.run(self.process.runner.retry(self.session.pk, uuid.uuid4(), run.public))

    def stop(self) -> None:
        """The person stops the next answer as soon as it begins."""
        inner, runner = self.provider.handle_async_request, self.process.runner

        async def handle(request: httpx2.Request) -> httpx2.Response:
            response = await inner(request)
            if "enerateContent" in request.url.path:
                for live in list(runner.live_runs.values()):
                    runner.cancel(live)
            return response

        self._replace(handle)
        self.talk()
        self._replace(inner)

    def attach_file(self) -> None:
        """The next message brings an image, another one each time."""
        self.edits += 1
        body = BytesIO(PIXEL + str(self.edits).encode())
        row = Attachment.objects.add(self.session, name="a.png", mime="image/png", file=body)
        self.talk(files=[row.public])

    def go_on_for_long(self) -> None:
        while self.session.exchanges.count() < LONG_SESSION:
            self.talk()

    def judge(self) -> None:
        """Neither the journal nor the audit finds a difference."""
        self.agree()
        wrong = [*self.wrong_figures(), *self.wrong_savings()]
        assert not wrong, wrong

    def wrong_savings(self) -> Iterator[str]:
        """What the page says would have saved money, where the audit adds up something else."""
        self.session.refresh_from_db()
        for _, shown, found in saving_findings(self.rows(), shown_session(self.session)):
            if shown != found:
                yield f"savings {sorted(shown - found)}, by the audit {sorted(found - shown)}"

    def wrong_figures(self) -> Iterator[str]:
        """Losses and breaks on which the journal has another opinion."""
        found, prompts, rows = self.decisions(), JournaledPrompts(self.provider.emulator.journal), self.rows()
        for exchange in self.session.exchanges.select_related("previous", "price").order_by("number"):
            expected = loss_by_journal(exchange, found)
            if expected is not None and exchange.lost_tokens != expected:
                yield f"exchange {exchange.number}: lost {exchange.lost_tokens}, by the journal {expected}"
            elif expected is not None and exchange.lost_usd != (usd := usd_of(exchange, expected)):
                yield f"exchange {exchange.number}: lost ${exchange.lost_usd}, by the journal ${usd}"
            if exchange.previous is not None and exchange.ledger:
                before, now = prompts.of(exchange.previous), prompts.of(exchange)
                line, items = exchange.break_line, rows.items(rows.numbers[exchange.pk])
                if not now.parts_at(before, claimed_place(line, items, now)):
                    yield f"exchange {exchange.number}: parts at {line}, by the journal {now.common(before)}"
                if not holds(exchange, found, now.in_blocks(before)):
                    yield f"exchange {exchange.number}: {found[exchange.pk].prefix} is less than it repeats"

    def rows(self) -> SessionRows:
        return SessionRows(self.session.pk)

    def decisions(self) -> Mapping[int, Decision]:
        """What the provider decided of each exchange, by the exchange's key."""
        by_hash = self.provider.decisions
        rows = self.session.exchanges.order_by("number")
        return {row.pk: by_hash[row.sent_sha256 or row.request_sha256].popleft() for row in rows}


def loss_by_journal(exchange: Exchange, found: Mapping[int, Decision]) -> int | None:
    """None where nobody can say: no count arrived, or the cause is unknown."""
    before = exchange.previous
    counts = exchange.prompt_tokens, before.cached_tokens if before else None
    if before is None or None in counts or exchange.verdict == VerdictCode.UNKNOWN:
        return None
    assert exchange.prompt_tokens is not None
    return max(0, min(found[before.pk].cached, exchange.prompt_tokens) - found[exchange.pk].cached)


def usd_of(exchange: Exchange, tokens: int) -> Decimal | None:
    """What so many tokens cost more, for not being cached, by the columns of the price row."""
    price = exchange.price
    if price is None:
        return None if tokens else Decimal(0)
    is_long = price.above is not None and (exchange.prompt_tokens or 0) > price.above
    tiers = (price.input, price.input_above), (price.cached, price.cached_above)
    new, cached = (high if is_long and high is not None else low for low, high in tiers)
    return (tokens * (new - cached) / 1_000_000).quantize(Decimal("0.00000001"))


def holds(exchange: Exchange, found: Mapping[int, Decision], common: int) -> bool:
    """The provider held what the request has in common with an answered one before it of the same model."""
    before = exchange.previous
    if before is None or exchange.model != before.model or before.prompt_tokens is None:
        return True
    held, earlier = found[exchange.pk].prefix, found[before.pk].prefix
    return held is None or earlier is None or held.bytes >= common
