"""A delta is written from pieces as its model would write it."""

from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.events import Block, Delta, Open, RunEvent, Started
from sessions_app.models import Run
from sessions_app.prompt.reply import ChunkView
from sessions_app.prompt.reply import Delta as DeltaPair
from sessions_app.prompt.wire import loads, well_formed
from sessions_app.runs.run_streams import Broadcast, LiveRun

kinds = st.sampled_from(["text", "thought"])


@given(st.integers(1, 99), st.lists(st.tuples(kinds, st.text(st.characters(), min_size=1)), min_size=1))
def test_a_delta_is_the_json_of_its_model(step: int, deltas: list[DeltaPair]) -> None:
    run = Run(public=uuid4())
    logged: list[tuple[int, str]] = []
    started = Started(run=run.public, client_id=uuid4(), text="Hi")
    live = LiveRun(run, started, Broadcast(), lambda _, seq, wire: logged.append((seq, wire)))
    live.show(step, ChunkView(deltas=tuple(deltas)))
    sent = [(seq, wire) for seq, wire in enumerate(live.wires) if '"type":"delta"' in wire]
    expected = [
        Delta(run=run.public, seq=seq, step=step, kind=kind, text=well_formed(text)).wire()
        for (seq, _), (kind, text) in zip(sent, deltas, strict=True)
    ]
    assert [wire for _, wire in sent] == expected
    assert logged == list(enumerate(live.wires))


@given(st.lists(st.text(st.characters() | st.sampled_from("*\n|- `"), min_size=1), min_size=1))
def test_a_block_is_the_json_of_its_model_open_and_closed(texts: list[str]) -> None:
    run = Run(public=uuid4())
    live = LiveRun(run, Started(run=run.public, client_id=uuid4(), text="Hi"), Broadcast(), lambda *_: None)
    for text in texts:
        live.show(1, ChunkView(deltas=(("text", text),)))
    live.close_text(1)
    kinds: dict[str, type[RunEvent]] = {"open": Open, "block": Block, "delta": Delta}
    for wire in live.wires[1:]:
        assert kinds[loads(wire)["type"]].model_validate_json(wire).wire() == wire
