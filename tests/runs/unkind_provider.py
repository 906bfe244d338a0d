"""The emulator in an unkind mood, which plays tasks, and its journal beside the exchanges of a session."""

import hashlib
import re
from collections import defaultdict, deque
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.emulator.decisions import CacheState, Decision, Rule
from sessions_app.emulator.faults import unkind
from sessions_app.emulator.scenarios import play
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedCall, ScriptedReply
from sessions_app.models import Exchange, Session
from sessions_app.prompt.cache_life import CacheFate, FateKind
from sessions_app.prompt.caching import VerdictCode
from sessions_app.prompt.verdict import VerdictReason

TASK = re.compile(r"task=(\w+) rounds=(\d+) calls=(\d+)")

HITS = {VerdictCode.HIT, VerdictCode.PARTIAL}

SHORT = {Rule.BELOW_MINIMUM, Rule.NOTHING_HELD}
MISSES = {*SHORT, Rule.HIT_WITHHELD}
REASONS = {
    VerdictReason.NAMED: {Rule.EXPLICIT_HIT},
    VerdictReason.WHOLE_PREFIX: {Rule.IMPLICIT_HIT},
    VerdictReason.PART_OF_PREFIX: {Rule.IMPLICIT_HIT},
    VerdictReason.ANOTHERS_PREFIX: {Rule.IMPLICIT_HIT},
    VerdictReason.CACHE_GONE: {Rule.CACHE_GONE},
    VerdictReason.NAMED_NOT_COUNTED: set[Rule](),
    VerdictReason.NOTHING_BEFORE: SHORT,
    VerdictReason.NEVER_CACHES: set[Rule](),
    VerdictReason.TOO_SHORT: SHORT,
    VerdictReason.EARLIER_TOO_SHORT: SHORT,
    VerdictReason.OTHER_MODEL: SHORT,
    VerdictReason.OTHER_SETTINGS: MISSES,
    VerdictReason.OTHER_TOOLS: SHORT,
    VerdictReason.HISTORY_REWRITTEN: SHORT,
    VerdictReason.LAYER_CHANGED: SHORT,
    VerdictReason.SERVED_BY_ANOTHER: {*SHORT, Rule.HIT_WITHHELD},
    VerdictReason.TIME_PASSED: {Rule.HIT_WITHHELD},
    VerdictReason.CONTINUED: {*SHORT, Rule.HIT_WITHHELD},
    VerdictReason.RAN_OUT: MISSES,
    VerdictReason.CACHE_LOST: MISSES,
    VerdictReason.DROPPED: MISSES,
    VerdictReason.ROLLED_OVER: MISSES,
    VerdictReason.OTHER_ROUTE: MISSES,
    VerdictReason.UNEXPLAINED: {Rule.HIT_WITHHELD},
}
"""What the provider may have decided where the product gives that reason. The others claim nothing."""

UNKNOWN = {VerdictReason.UNKNOWN, VerdictReason.NOT_RECORDED, VerdictReason.NEAR_MINIMUM}

STATES = {
    FateKind.EXPIRED: {CacheState.EXPIRED, CacheState.VANISHED},
    FateKind.DROPPED: {*CacheState} - {CacheState.UNKNOWN},
    FateKind.GONE: {CacheState.EXPIRED, CacheState.VANISHED, CacheState.DELETED},
    FateKind.UNUSED: {CacheState.LIVE, CacheState.EXPIRED, CacheState.VANISHED},
}
"""What the provider may know of the cache that a request did not name, by what we say became of it. Its clock
may be ahead of ours, and what we do not name may end without our notice."""


class UnkindProvider(EmulatorTransport):
    """`skip` moves the provider's clock, which is ahead of ours from then on."""

    def __init__(self, seed: int) -> None:
        self.ahead = timedelta()
        self.unkindness = unkind(seed)
        super().__init__(
            Emulator(
                delay=0,
                clock=lambda: datetime.now(UTC) + self.ahead,
                sleep=at_once,
                faults=self.unkindness,
                play=play_tasks,
            )
        )

    def be_kind(self, is_kind: bool) -> None:
        self.emulator.faults.configured = () if is_kind else self.unkindness

    def skip(self, seconds: int) -> None:
        self.ahead += timedelta(seconds=seconds)

    @property
    def decisions(self) -> dict[str, deque[Decision]]:
        """Why requests for an answer were answered so, by the hash of their bodies, oldest first."""
        found: dict[str, deque[Decision]] = defaultdict(deque)
        for entry in self.emulator.journal:
            if "enerateContent" in entry.path:
                found[hashlib.sha256(entry.body).hexdigest()].append(entry.decision)
        return found

    def contradictions(self, session: Session) -> Iterator[str]:
        """Verdicts on which the journal has another opinion."""
        decisions = self.decisions
        for exchange in session.exchanges.order_by("number"):
            decision = decisions[exchange.sent_sha256 or exchange.request_sha256].popleft()
            if not agrees(exchange, decision):
                yield f"exchange {exchange.number}: {exchange.found_verdict}, but {decision}"


async def at_once(_: float) -> None:
    """A sleep that is over."""


def play_tasks(context: ScenarioContext) -> ScriptedReply:
    """So many rounds of `add_todo`, each call with a title of its own, then an answer."""
    found = TASK.search(context.text)
    if found is None or "add_todo" not in context.functions:
        return play(context)
    task, rounds, calls = found[1], int(found[2]), int(found[3])
    done = len(context.rounds)
    if done >= rounds:
        return ScriptedReply(f"This is the whole answer to {task}.", thoughts=("I know it.",))
    titles = (f"{task}-{done}-{number}" for number in range(calls))
    made = tuple(ScriptedCall("add_todo", {"title": title}) for title in titles)
    return ScriptedReply(calls=made, thoughts=("I need tools.",))


def agrees(exchange: Exchange, decision: Decision) -> bool:
    verdict = exchange.found_verdict
    if verdict is None or verdict.reason not in REASONS:
        return True
    if verdict.code in HITS and verdict.cached != decision.cached:
        return False
    if exchange.cache_name and verdict.cached is None:
        return decision.rule is Rule.CACHE_GONE
    return decision.rule in REASONS[verdict.reason] and knows_fate(verdict.fate, decision)


def knows_fate(fate: CacheFate | None, decision: Decision) -> bool:
    """Whether the journal has the cache that might have been named, and in a state that fits."""
    if fate is None or fate.kind not in STATES:
        return True
    found = {one.state for one in decision.caches if one.name == fate.name}
    return bool(found & STATES[fate.kind])
