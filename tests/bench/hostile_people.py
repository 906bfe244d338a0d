"""The people of `bench hostile`, and what the attackers bring along.

`python -m tests.bench.hostile_people FOLDER` makes them in the database that PIPEWEB_DATA and DATABASE_URL
name, writes the files to import into FOLDER, and prints a Crowd as JSON.
"""

import sys
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from sessions_app.socket_commands import Send
from tests.bench.processes import START_LIMIT, run_module, set_up_django
from tests.bench.relay_pipeweb import Seat, sign_in

VICTIMS = 12
WARM_UP, NORMAL, DURING = PHASES = ("warm-up", "normal", "during")
MANY = 100
"""Sessions of the attacker who sends in all of them at once."""

SHORT_TURNS = 45_000
LONG_TURNS = 3
LONG_TURN = 14_000_000
"""Characters."""

BACKGROUNDS = {
    "map": "{{ [" + "1," * 20 + "]|map(attribute='.' * 380000)|list|length }}",
    "sort": "{{ [" + "1," * 20 + "]|sort(attribute='1,' * 50000)|length }}",
    "loops": "{% for a in range(99999) %}" * 6 + "x" + "{% endfor %}" * 6,
    "memory": "{% set s = 'a' * 9999 %}" + "{% set s = s ~ s %}" * 40 + "{{ s }}",
    "source": "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
}
"""Templates that cost their reader time or memory, by name."""

FRAME_SIZES = (1_000_000, 3_000_000, 20_000_000)
"""The first is below what Daphne takes, 1 MiB."""

TURNS_FILE, LONG_FILE = "turns.json", "long.json"


@dataclass(frozen=True, slots=True)
class Crowd:
    """`victims` use Pipeweb as always, in new sessions for each phase, since a longer one has slower pages.
    Every attack has a person of its own: one seat, or many sessions."""

    victims: dict[str, list[Seat]]
    templates: dict[str, Seat]
    attacker: Seat
    many: list[Seat]


CROWD = TypeAdapter(Crowd)


def gather_crowd(folder: Path, variables: Mapping[str, str]) -> Crowd:
    """Raises PipewebError."""
    printed = run_module("hostile_people", str(folder), given=b"", limit=2 * START_LIMIT, **variables)
    return CROWD.validate_json(printed)


def make_crowd() -> Crowd:
    from sessions_app.models import Session

    victims, templates = sign_in(VICTIMS), sign_in(len(BACKGROUNDS))
    (attacker,) = sign_in(1)
    for seat, background in zip(templates, BACKGROUNDS.values(), strict=True):
        Session.objects.filter(public=seat.session).update(background=background)
    return Crowd(
        victims={phase: [_more_sessions(seat, 1)[0] for seat in victims] for phase in PHASES},
        templates=dict(zip(BACKGROUNDS, templates, strict=True)),
        attacker=attacker,
        many=_more_sessions(attacker, MANY),
    )


def _more_sessions(seat: Seat, count: int) -> list[Seat]:
    from sessions_app.models import Session

    first = Session.objects.get(public=seat.session)
    made = [Session.objects.create(owner_id=first.owner_id, model=first.model) for _ in range(count)]
    return [Seat(seat.cookie, str(session.public)) for session in made]


def exported(texts: Iterator[str]) -> bytes:
    """A file of “Export as JSON” with these texts as one branch of messages."""
    turns, parent = [], None
    for text in texts:
        key = str(uuid.uuid4())
        content = orjson.dumps({"role": "user", "parts": [{"text": text}]}).decode()
        turns.append({"key": key, "parent": parent, "kind": "user_task", "content": content})
        parent = key
    session = {"model": "gemini-3-flash-preview", "title": "Imported", "head": parent}
    return orjson.dumps({"exported_at": "2026-11-01T00:00:00Z", "session": session, "turns": turns})


def frames() -> Iterator[str | bytes]:
    """Messages that are too long, and what is no message: as text and as bytes."""
    for size in FRAME_SIZES:
        yield Send.model_construct(client_id=uuid.uuid4(), text="x" * size).wire()
    yield "[" * FRAME_SIZES[0]
    yield bytes(FRAME_SIZES[0])


def main(folder: str) -> None:
    set_up_django()
    Path(folder, TURNS_FILE).write_bytes(exported(f"turn {number}" for number in range(SHORT_TURNS)))
    Path(folder, LONG_FILE).write_bytes(exported("x" * LONG_TURN for _ in range(LONG_TURNS)))
    sys.stdout.buffer.write(CROWD.dump_json(make_crowd()))


if __name__ == "__main__":
    main(*sys.argv[1:])
