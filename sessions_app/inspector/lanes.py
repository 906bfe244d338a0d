"""Where requests of a captured session stand among its agents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sessions_app.models import CapturedRequest, Exchange, Run, Session
from sessions_app.wording import capture


@dataclass(frozen=True, slots=True)
class RowLane:
    """`label` names the agent, empty for the main one; `relation` what the request is to the one before it,
    empty where it only goes on. `depth` counts from 0 for the main lane.
    """

    label: str
    relation: str
    depth: int


def lanes_of(session: Session, exchanges: Iterable[Exchange]) -> Mapping[int, RowLane]:
    """The lanes of captured exchanges by number: two queries, none for a chat."""
    if not session.is_captured:
        return {}
    labels = _labels(session)
    numbers = {one.pk: one.number for one in exchanges}
    rows = CapturedRequest.objects.filter(exchange__in=list(numbers))
    found = rows.values_list("exchange", "lane", "relation", "is_guess")
    return {
        numbers[key]: RowLane(label, _relation(relation, is_guess), depth)
        for key, lane, relation, is_guess in found
        for label, depth in [labels.get(lane, ("", 0))]
    }


def _labels(session: Session) -> dict[str, tuple[str, int]]:
    """Lane → its name and its place among those beside the main one, in the order in which they began."""
    runs = Run.objects.filter(session=session).exclude(lane="").order_by("started_at", "pk")
    roles = dict(runs.values_list("lane", "lane_role"))
    beside = [lane for lane, role in roles.items() if role != "main"]
    alike = {role: [lane for lane in beside if roles[lane] == role] for role in set(roles.values())}
    return {
        lane: (capture.lane(roles[lane], alike[roles[lane]].index(lane) + 1, len(alike[roles[lane]])), place)
        for place, lane in enumerate(beside, start=1)
    }


def _relation(relation: str, is_guess: bool) -> str:
    is_plain = relation in ("continues", "hop", "") and not is_guess
    return "" if is_plain else capture.relation(relation, is_guess=is_guess)
