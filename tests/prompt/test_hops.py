"""An answer of several hops folds as one of a single stream."""

import json
import uuid
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.outcomes import Outcome
from sessions_app.prompt.reply import Folder
from sessions_app.prompt.wire import loads
from tests.prompt.examples import SIGNATURE, call, chunk, text

PIECES = st.lists(
    st.sampled_from(
        [
            *(text("a"), text("b"), text("\ud83d"), text("\ude00"), text("t", thought=True)),
            *(text("s", thoughtSignature=SIGNATURE), call("f"), {"audioPatch": {"n": 1}}),
        ]
    ),
    max_size=12,
)


@given(PIECES, st.data())
def test_hops_fold_as_one_stream(parts: list[dict[str, Any]], data: st.DataObject) -> None:
    """Wherever the provider pauses, the parts are those of one stream."""
    ends = sorted(data.draw(st.lists(st.integers(0, len(parts)), max_size=4)))
    whole, hops = Folder(), Folder()
    for part in parts:
        whole.add(ascii_chunk(part))
    whole.add(chunk(finishReason="STOP"))
    for start, end in zip([0, *ends], ends, strict=False):
        for part in parts[start:end]:
            hops.add(ascii_chunk(part))
        hops.add(chunk(finishReason="CONTINUATION", continuationToken=str(uuid.uuid4())))
        assert hops.reply().outcome is Outcome.CONTINUES
        hops.begin_hop()
    for part in parts[ends[-1] if ends else 0 :]:
        hops.add(ascii_chunk(part))
    hops.add(chunk(finishReason="STOP"))
    one, many = whole.reply(), hops.reply()
    assert (one.wire and loads(one.wire), one.calls, one.outcome) == (
        many.wire and loads(many.wire),
        many.calls,
        many.outcome,
    )


def test_the_token_that_was_sent_leads_no_further() -> None:
    """Else a provider that repeats it is asked for ever."""
    folder, outcomes = Folder(), list[Outcome]()
    for token in ("one", "two", "two"):
        folder.add(chunk(text("a"), finishReason="CONTINUATION", continuationToken=token))
        outcomes.append(folder.reply().outcome)
        folder.begin_hop()
    assert outcomes == [Outcome.CONTINUES, Outcome.CONTINUES, Outcome.UNFINISHED]


def ascii_chunk(part: dict[str, Any]) -> bytes:
    """With half emojis as escapes, which orjson does not write."""
    return json.dumps({"candidates": [{"content": {"role": "model", "parts": [part]}}]}).encode()
