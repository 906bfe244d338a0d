"""The rows of a session that its signatures are traced through, each kind read once."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from sessions_app.inspector.manifest_sources import ManifestSources, manifest_sources
from sessions_app.inspector.signature_trace import SentSignature, signatures_in
from sessions_app.models import CapturedRequest, Exchange, HistoryChunk, Source, Turn
from sessions_app.models.turn_numbers import turn_numbers
from sessions_app.prompt.prompt_items import CACHED_CONTENT, TEXT_KIND

CONTINUES, RETRY = "continues", "retry"
"""Relations of a captured request to the one before it (`capture.placements.Relation`)."""

MODEL_KINDS = [kind for kind in Turn.Kind if kind.is_model]


def is_task(name: str, kind: str) -> bool:
    """Whether a source of this name and kind is a text of the user."""
    return name.startswith("turn:") and kind in (Turn.Kind.USER_TASK, TEXT_KIND)


class SessionRecords:
    """At most four queries, one for what `read_contents` names, and those of `sent_signatures`."""

    def __init__(self, session_id: int, *, is_captured: bool, after: int = 0) -> None:
        """Without the exchanges up to number `after`. `is_captured`: a program sent the requests, and decides
        what it sends back.
        """
        self.session_id = session_id
        self.is_captured = is_captured
        self._after = after
        self._signed: dict[int, tuple[SentSignature, ...]] = {}

    def continued_from(self, number: int) -> set[int]:
        """The exchanges by which a program went on from this one: one query, none for a chat."""
        found = {number}
        for later, earlier in self._continuations:
            if earlier in found:
                found.add(later)
        return found - {number}

    @cached_property
    def _continuations(self) -> list[tuple[int, int]]:
        """Numbers of each captured request and of the one that it goes on from or repeats, oldest first."""
        if not self.is_captured:
            return []
        rows = CapturedRequest.objects.filter(exchange__session=self.session_id).order_by("exchange__number")
        numbers: dict[tuple[str, str], int] = {}
        found = []
        for public, lane, known, relation, number in rows.values_list(
            "public", "lane", "before", "relation", "exchange__number"
        ):
            numbers[lane, str(public)] = number
            earlier = numbers.get((lane, known))
            if earlier is not None and relation in (CONTINUES, RETRY):
                found.append((number, earlier))
        return found

    @cached_property
    def names(self) -> dict[int, str]:
        """Primary key → name of every source of the session."""
        return {key: name for key, name, _ in self._sources}

    @cached_property
    def _tasks(self) -> set[int]:
        """The sources that are texts of the user."""
        return {key for key, name, kind in self._sources if is_task(name, kind)}

    def is_current(self, request: ManifestSources, source: int) -> bool:
        """Whether the source stands behind the last text of the user: in the current turn of the request."""
        places = [at for at, key in enumerate(request.sources) if key in self._tasks]
        return request.sources.index(source) > max(places, default=-1)

    @cached_property
    def requests(self) -> list[tuple[ManifestSources, str]]:
        """The requests with the public id of the turn that each ends with."""
        later = Exchange.objects.filter(session=self.session_id, number__gt=self._after)
        found = [one for one in manifest_sources(later) if one.sources]
        return [(one, self.names[one.sources[-1]].removeprefix("turn:")) for one in found]

    def below(self, turns: Sequence[Turn]) -> set[str]:
        """Public ids of the turns that descend from one of these."""
        found = {turn.pk: str(turn.public) for turn in turns}
        for pk, public, parent in self._tree:
            if parent in found:
                found[pk] = public
        return set(found.values()) - {str(turn.public) for turn in turns}

    def chunks_from(self, depth: int) -> set[int]:
        """The sources of the history chunks that end at this depth or below it."""
        return {key for last, name in self._chunks if last >= depth for key in self._keys[name]}

    def sources_of(self, turns: Iterable[Turn]) -> set[int]:
        """Every source of these turns; a repaired turn is a source of its own."""
        return {key for turn in turns for key in self._keys[f"turn:{turn.public}"]}

    def cached_contents(self, request: ManifestSources) -> list[int]:
        """The contents of the cache that a program's request names, in their order."""
        return [key for key in request.sources if key in self._in_caches]

    def sent_signatures(self, request: ManifestSources) -> Iterator[tuple[str, int, SentSignature]]:
        """The signatures of a program's request, each with its turn: two queries for all requests."""
        for source in request.sources:
            for one in self._signed_turns.get(source, ()):
                name = self.names[source]
                yield name, self._turn_numbers.get(name, 0), one

    def read_contents(self, sources: Iterable[int]) -> None:
        """One query; `signatures_of` answers for these, and for what caches of programs hold."""
        rows = Source.objects.filter(pk__in={*sources, *self._in_caches}).select_related("blob")
        self._signed |= {source.pk: signatures_in(source.blob.bytes) for source in rows}

    def signatures_of(self, source: int) -> tuple[SentSignature, ...]:
        return self._signed[source]

    @cached_property
    def _signed_turns(self) -> dict[int, tuple[SentSignature, ...]]:
        """The signatures of the model's turns that have any, by source."""
        rows = Source.objects.filter(session=self.session_id, kind__in=MODEL_KINDS).select_related("blob")
        found = {source.pk: signatures_in(source.blob.bytes) for source in rows}
        return {key: signed for key, signed in found.items() if signed}

    @cached_property
    def _turn_numbers(self) -> dict[str, int]:
        return turn_numbers(self.session_id, (self.names[key] for key in self._signed_turns))

    @cached_property
    def _sources(self) -> list[tuple[int, str, str]]:
        return list(Source.objects.filter(session=self.session_id).values_list("pk", "name", "kind"))

    @cached_property
    def _in_caches(self) -> set[int]:
        """The sources that stand in an explicit cache of a program."""
        return {key for key, name in self.names.items() if name.startswith(f"{CACHED_CONTENT}:")}

    @cached_property
    def _keys(self) -> dict[str, list[int]]:
        """Name → primary keys."""
        found: dict[str, list[int]] = defaultdict(list)
        for key, name in self.names.items():
            found[name].append(key)
        return found

    @cached_property
    def _tree(self) -> list[tuple[int, str, int | None]]:
        """Key, public id and parent of each turn; parents first."""
        rows = Turn.objects.filter(session=self.session_id).order_by("depth")
        return [
            (pk, str(public), parent) for pk, public, parent in rows.values_list("pk", "public", "parent_id")
        ]

    @cached_property
    def _chunks(self) -> list[tuple[int, str]]:
        """The depth at which each history chunk ends, and its name."""
        rows = HistoryChunk.objects.filter(session=self.session_id)
        return [(depth, f"chunk:{pk}") for pk, depth in rows.values_list("pk", "last_turn__depth")]
