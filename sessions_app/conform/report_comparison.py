"""What differs between two reports, probe by probe: a live one, and the emulator's answers to the same."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sessions_app.conform.report import SETTLED, ConformanceReport, ProbeOutcome
from sessions_app.conform.wire_form import Marks, WireForm, form_of

_SHARED = frozenset({"POST /v1beta/cachedContents"})
"""Requests that one of several probes makes."""


@dataclass(frozen=True, slots=True)
class ProbeComparison:
    """`reason` says why a probe could not be compared."""

    probe: str
    differences: tuple[str, ...] = ()
    reason: str = ""

    def lines(self) -> Iterator[str]:
        if self.reason:
            yield f"not compared  {self.probe:<22} {self.reason}"
        elif not self.differences:
            yield f"same          {self.probe}"
        else:
            yield f"differs       {self.probe}"
            yield from (f"    {difference}" for difference in self.differences)


@dataclass(frozen=True, slots=True)
class Sides:
    """Collects differences in words that name both sides."""

    found: list[str] = field(default_factory=list)

    def compare(self, what: str, theirs: object, ours: object) -> bool:
        if theirs != ours:
            self.found.append(f"{what}: live {_shown(theirs)}, emulator {_shown(ours)}")
        return theirs == ours


def compare(live: ConformanceReport, emulated: ConformanceReport) -> list[ProbeComparison]:
    """One comparison for each probe of the live report, in its order."""
    ours = {probe.probe: probe for probe in emulated.probes}
    return [_compared(probe, ours.get(probe.probe)) for probe in live.probes]


def _compared(live: ProbeOutcome, ours: ProbeOutcome | None) -> ProbeComparison:
    if live.verdict not in SETTLED:
        return ProbeComparison(live.probe, reason=f"{live.verdict} in the report: {live.found}")
    if ours is None or ours.verdict not in SETTLED:
        found = "unknown to this version" if ours is None else f"{ours.verdict}: {ours.found}"
        return ProbeComparison(live.probe, reason=f"not answered by the emulator: {found}")
    sides = Sides()
    sides.compare("outcome", live.verdict, ours.verdict)
    _compare_figures(sides, live, ours)
    theirs_forms, our_forms = map(_by_request, (live, ours))
    sides.compare("requests", *(forms.keys() - _SHARED for forms in (theirs_forms, our_forms)))
    for request in theirs_forms.keys() & our_forms.keys():
        pairs = list(zip(reversed(theirs_forms[request]), reversed(our_forms[request]), strict=False))
        for number, (theirs, our) in enumerate(reversed(pairs), 1):
            _compare_forms(sides, f"{request} ({number})" if len(pairs) > 1 else request, theirs, our)
    return ProbeComparison(live.probe, tuple(sides.found))


def _compare_figures(sides: Sides, live: ProbeOutcome, ours: ProbeOutcome) -> None:
    """Codes only: counts are the model's."""
    for name, value in live.figures.items():
        if isinstance(value, str | bool):
            sides.compare(name, value, ours.figures.get(name))


def _by_request(probe: ProbeOutcome) -> dict[str, list[WireForm]]:
    """Compared from the end: what probes share is asked for by the first that runs."""
    forms: dict[str, list[WireForm]] = {}
    for form in map(form_of, probe.exchanges):
        forms.setdefault(form.request, []).append(form)
    return forms


def _compare_forms(sides: Sides, where: str, theirs: WireForm, ours: WireForm) -> None:
    if not sides.compare(f"{where}: status", theirs.status, ours.status):
        sides.compare(f"{where}: error words", theirs.words, ours.words)
        return
    sides.compare(f"{where}: content type", theirs.content_type, ours.content_type)
    sides.compare(f"{where}: end", theirs.end, ours.end)
    sides.compare(f"{where}: error words", theirs.words, ours.words)
    sides.compare(f"{where}: keys", theirs.keys - ours.keys, ours.keys - theirs.keys)
    _compare_order(sides, where, theirs, ours)
    shared = theirs.keys & ours.keys
    sides.compare(
        f"{where}: placement", _placement(theirs.placement, shared), _placement(ours.placement, shared)
    )


def _compare_order(sides: Sides, where: str, theirs: WireForm, ours: WireForm) -> None:
    """The order of the keys that both have."""
    for place in theirs.order.keys() & ours.order.keys():
        first, second = theirs.order[place], ours.order[place]
        both = set(first) & set(second)
        left, right = ([key for key in keys if key in both] for keys in (first, second))
        sides.compare(f"{where}: order of keys in {place or 'the answer'}", left, right)


def _placement(events: tuple[Marks, ...], shared: Marks) -> list[str]:
    """Each event by what it has and others have not, equal neighbours once."""
    placed: list[str] = []
    for event in events:
        text = " ".join(sorted(event & shared)) or "-"
        if not placed or placed[-1] != text:
            placed.append(text)
    return placed


def _shown(value: object) -> str:
    if isinstance(value, set | frozenset):
        return "only " + (", ".join(sorted(value)) or "nothing")
    if isinstance(value, list):
        return " | ".join(value) or "nothing"
    return "nothing" if value in ("", None) else str(value)
