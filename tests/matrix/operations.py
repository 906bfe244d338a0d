"""The operations of the matrix and of generated sessions, each with the rows that prove that it happened."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from sessions_app.models import CacheEvent, Exchange, HistoryChunk, Run, Source, Turn
from tests.matrix.played_session import PlayedSession

IMPLICIT_LIFE = timedelta(minutes=5)


class Operation(NamedTuple):
    """`happened` is asked after the next answer, with the number of the exchange before the operation."""

    play: Callable[[PlayedSession], None]
    happened: Callable[[PlayedSession, int], bool]


def around(played: PlayedSession, last: int) -> tuple[Exchange, Exchange]:
    """The newest exchange, and the one before the operation."""
    return played.newest(), played.session.exchanges.get(number=last)


def _has_waited(played: PlayedSession, last: int) -> bool:
    """A cache that lived has run out by then, if there was one."""
    after, before = played.session.exchanges.get(number=last + 1), played.session.exchanges.get(number=last)
    idle = after.started_at - (before.ended_at or before.started_at)
    known = CacheEvent.objects.filter(name=before.cache_name).exclude(name="").exclude(expires=None)
    end = known.order_by("at", "pk").values_list("expires", flat=True).last()
    is_over = end is None or (end <= after.started_at and after.cache_name != before.cache_name)
    return idle > IMPLICIT_LIFE and is_over


def _of_layer(exchange: Exchange, layer: str) -> list[tuple[str, str]]:
    """Names and hashes of its items."""
    keys = [key for key, place, *_ in exchange.manifest["entries"] if place == layer]
    rows = Source.objects.filter(pk__in=keys).values_list("pk", "name", "blob__sha256")
    found = {pk: (name, sha256) for pk, name, sha256 in rows}
    return [found[key] for key in keys]


def _differ_in(layer: str, begin: str) -> Callable[[PlayedSession, int], bool]:
    """The items of a layer whose names begin so differ."""

    def differ(played: PlayedSession, last: int) -> bool:
        one, other = (
            [item for item in _of_layer(exchange, layer) if item[0].startswith(begin)]
            for exchange in around(played, last)
        )
        return one != other

    return differ


def _has_other_model(played: PlayedSession, last: int) -> bool:
    now, before = around(played, last)
    return now.model != before.model


def _settings(exchange: Exchange) -> Any:
    return json.loads('{"contents":[' + exchange.manifest["tail"])["generationConfig"]


def _has_other_settings(played: PlayedSession, last: int) -> bool:
    now, before = around(played, last)
    return bool(_settings(now) != _settings(before))


def _has_other_branch(played: PlayedSession, last: int) -> bool:
    """A message was worded anew, and the newest request does not hold the new wording."""
    tasks = Turn.objects.filter(session=played.session, kind=Turn.Kind.USER_TASK)
    most = Counter(tasks.values_list("parent", flat=True)).most_common(1)[0][1]
    anew = played.session.exchanges.get(number=last + 1).run.trigger
    held = Source.objects.filter(pk__in=[entry[0] for entry in played.newest().manifest["entries"]])
    return most > 1 and anew is not None and f"turn:{anew.public}" not in held.values_list("name", flat=True)


def _has_rolled(played: PlayedSession, last: int) -> bool:
    return HistoryChunk.objects.filter(session=played.session).exists()


def _was_refused(played: PlayedSession, last: int) -> bool:
    """Where no explicit cache is asked for, there is nothing to refuse but what was edited."""
    if played.session.settings["cache_mode"] == "explicit":
        return CacheEvent.objects.filter(session=played.session, kind="refused").exists()
    return _differ_in("static", "")(played, last)


def _was_repeated(played: PlayedSession, last: int) -> bool:
    triggers = Counter(Run.objects.filter(session=played.session).values_list("trigger", flat=True))
    return max(triggers.values()) > 1


def _was_stopped(played: PlayedSession, last: int) -> bool:
    stopped = played.session.exchanges.get(number=last + 1)
    reason = stopped.verdict_figures.get("reason")
    return stopped.run.status == Run.Status.STOPPED and reason == "cut_off"


def _has_file(played: PlayedSession, last: int) -> bool:
    return b'"inlineData"' in played.session.exchanges.get(number=last + 1).request_body()


OPERATIONS = {
    "idle": Operation(PlayedSession.idle, _has_waited),
    "text": Operation(PlayedSession.edit_text, _differ_in("static", "")),
    "panel": Operation(PlayedSession.change_panel, _differ_in("dynamic", "panel:")),
    "tool": Operation(PlayedSession.change_tools, _differ_in("static", "tools")),
    "model": Operation(PlayedSession.change_model, _has_other_model),
    "settings": Operation(PlayedSession.change_settings, _has_other_settings),
    "branch": Operation(PlayedSession.switch_branch, _has_other_branch),
    "roll-over": Operation(PlayedSession.roll_over, _has_rolled),
    "refused": Operation(PlayedSession.refuse_caches, _was_refused),
    "retry": Operation(PlayedSession.retry, _was_repeated),
    "stop": Operation(PlayedSession.stop, _was_stopped),
    "file": Operation(PlayedSession.attach_file, _has_file),
}
