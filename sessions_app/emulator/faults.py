"""Which faults strike which request: those of the server, of the request's header and of its text.

A fault is a slash command with a probability. The same seed chooses the same requests, counted for each
method of the API.
"""

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace

from sessions_app.emulator.http import ApiRequest
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply
from sessions_app.emulator.slash_commands import SLASH_COMMANDS, CommandUse, find_commands, parse_faults

FAULT_HEADER = "x-emulator-fault"

UNKIND = (
    "creating 5; p=0.5, vanish; p=0.05, miss; p=0.2, miscount 8; p=0.5, served; p=0.04, corrupted; p=0.04, "
    "continue; p=0.05, newreason; p=0.04, newpart; p=0.05, retryafter 1; p=0.02, retrydate 1; p=0.02, "
    "ratelimit 1; p=0.02, delay 3; p=0.1, think; p=0.1"
)
"""What `emulator --unkind` injects."""

_SPENT_KEPT = 1_000


def unkind(seed: int) -> tuple[CommandUse, ...]:
    return tuple(replace(use, seed=seed) for use in parse_faults(UNKIND))


class FaultPlan:
    """The faults of one emulator. Remembers how many requests came and which commands are spent;
    `configured` are those of the server."""

    def __init__(self, configured: Sequence[CommandUse] = ()) -> None:
        self.configured = tuple(configured)
        self._numbers: Counter[str] = Counter()
        self._spent: OrderedDict[str, None] = OrderedDict()

    def of(
        self, request: ApiRequest, text: str, applied: list[str], *, method: str, after_tools: bool = False
    ) -> "RequestFaults":
        """Raises ApiError (400) for an unknown word in the header. `applied` is told what applied."""
        self._numbers[method] += 1
        around = (*self.configured, *parse_faults(request.headers.get(FAULT_HEADER, "")))
        number, scope = self._numbers[method], f"{request.key}\0{text}"

        def is_due(use: CommandUse) -> bool:
            fits = (after_tools or not use.later) and use.applies_to(number)
            return fits and (not use.once or self._spend(f"{use}\0{scope}"))

        return RequestFaults(find_commands(text), around, number, is_due, applied)

    def _spend(self, what: str) -> bool:
        """False for a `once` command that an earlier request with the same text has spent."""
        spending = hashlib.sha256(what.encode()).hexdigest()
        if spending in self._spent:
            return False
        self._spent[spending] = None
        if len(self._spent) > _SPENT_KEPT:
            self._spent.popitem(last=False)
        return True


class RequestFaults:
    """The faults of one request: the commands `in_text`, and those `around` it."""

    def __init__(
        self,
        in_text: tuple[CommandUse, ...],
        around: tuple[CommandUse, ...],
        number: int,
        is_due: Callable[[CommandUse], bool],
        applied: list[str],
    ) -> None:
        self._in_text = in_text
        self._around = around
        self._number = number
        self._is_due = is_due
        self._applied = applied

    def strikes(self, word: str) -> bool:
        """Whether the command applies; asked where it would change something."""
        return self._take(word) is not None

    def share(self, word: str, most: float) -> float:
        """A share of the command's argument, else of `most`, that lies anywhere between 0 and all; 0 where
        it does not apply."""
        use = self._take(word)
        return use.share(self._number) * float(use.argument or most) if use else 0.0

    def balance(self, word: str, most: float) -> float:
        """As `share`, to either side of 0."""
        use = self._take(word)
        return (2 * use.share(self._number) - 1) * float(use.argument or most) if use else 0.0

    def apply(
        self, context: ScenarioContext, reply: ScriptedReply, *, is_recorded: bool = False
    ) -> ScriptedReply:
        """The reply as the commands leave it, those of the text first; a recorded one ignores its text."""
        for use in self._around if is_recorded else self._in_text + self._around:
            changed = SLASH_COMMANDS[use.word].effect(context, reply, use.argument)
            if changed != reply and self._is_due(use):
                self._applied.append(str(use))
                reply = changed
        return reply

    def _take(self, word: str) -> CommandUse | None:
        for use in self._in_text + self._around:
            if use.word == word and self._is_due(use):
                self._applied.append(str(use))
                return use
        return None
