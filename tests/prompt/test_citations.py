"""What an answer rests on: from the provider's metadata, as recorded and as it might come."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.prompt.citations import PLACES, SOURCES, CitationFolder, Citations, CitedPlace
from sessions_app.prompt.parts import text_of
from sessions_app.prompt.reply import Folder, fold
from tests.factories import text_chunk
from tests.prompt.test_recordings import bodies, exchanges

TEXT = "Zürich 🙂 is large. It is in Europe."
PAGES = [{"web": {"uri": "https://a.example/x", "title": "a.example"}}, {"web": {"uri": "https://b.example"}}]


def segment(words: str, **other: Any) -> dict[str, Any]:
    start = len(TEXT[: TEXT.index(words)].encode())
    return {"startIndex": start, "endIndex": start + len(words.encode()), "text": words} | other


def grounded(*supports: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {
        "groundingMetadata": {"groundingChunks": PAGES, "groundingSupports": list(supports)} | rest,
    }


def citations_of(*candidates: dict[str, Any], text: str = TEXT) -> Citations:
    folder = CitationFolder()
    for candidate in candidates:
        folder.add(candidate)
    return folder.citations(text)


def ends(found: Citations) -> list[str]:
    return [TEXT[: place.end] for place in found.places]


def test_bytes_of_a_text_become_its_characters() -> None:
    support = {"segment": segment("Zürich 🙂 is large."), "groundingChunkIndices": [0, 1]}
    found = citations_of(grounded(support, webSearchQueries=["how large"]))
    assert ends(found) == ["Zürich 🙂 is large."]
    assert found.places[0].sources == (0, 1) and found.queries == ("how large",)
    assert [source.uri for source in found.sources] == ["https://a.example/x", "https://b.example"]


def test_what_was_searched_is_kept_without_what_no_database_takes() -> None:
    assert citations_of(grounded(webSearchQueries=["\0half \ud83d"])).queries == ("half \ufffd",)


def test_a_start_of_zero_is_left_out_and_words_may_be() -> None:
    short = {"segment": {"endIndex": len("Zürich".encode())}, "groundingChunkIndices": [0]}
    assert ends(citations_of(grounded(short))) == ["Zürich"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"endIndex": 2},  # within a character
        {"endIndex": 10_000},
        {"startIndex": 9, "endIndex": 4},
        {"startIndex": "0", "endIndex": "5"},
        {"endIndex": 5, "text": "words that are not there"},
        {},
    ],
)
def test_a_place_that_is_none_has_no_mark_and_its_source_stays(wrong: dict[str, Any]) -> None:
    found = citations_of(grounded({"segment": wrong, "groundingChunkIndices": [0]}))
    assert not found.places and len(found.sources) == 2


def test_words_that_stand_elsewhere_decide() -> None:
    moved = {"segment": segment("It is in Europe.", startIndex=0, endIndex=16), "groundingChunkIndices": [1]}
    assert ends(citations_of(grounded(moved))) == [TEXT]


def test_indices_of_no_source_are_left_out() -> None:
    support = {"segment": segment("It is in Europe."), "groundingChunkIndices": [7, -1, "0", 1]}
    assert citations_of(grounded(support)).places == (CitedPlace(end=len(TEXT), sources=(1,)),)


def test_a_page_that_was_retrieved_is_named_once_and_one_that_was_not_says_so() -> None:
    pages = [
        {"retrievedUrl": "https://a.example/x/", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
        {"retrievedUrl": "https://gone.example", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"},
    ]
    found = citations_of({"urlContextMetadata": {"urlMetadata": pages}}, grounded())
    assert [(source.uri, source.is_read) for source in found.sources] == [
        ("https://a.example/x", True),
        ("https://b.example", True),
        ("https://gone.example", False),
    ]


def test_quoted_texts_of_several_chunks_are_one_source() -> None:
    quote = {"uri": "https://q.example", "license": "MIT"}
    found = citations_of(
        {"citationMetadata": {"citationSources": [quote | {"startIndex": 1, "endIndex": 7}]}},
        {"citationMetadata": {"citationSources": [quote | {"startIndex": 1, "endIndex": 12}]}},
    )
    assert [(source.kind, source.licence) for source in found.sources] == [("quoted", "MIT")]
    assert ends(found) == ["Zürich", "Zürich 🙂"]


def test_hops_add_to_each_other_and_a_chunk_repeats_what_is_known() -> None:
    folder = CitationFolder()
    folder.add(grounded() | {"groundingMetadata": {}})
    folder.add(grounded())
    folder.add(grounded())
    folder.begin_hop()
    folder.add({"groundingMetadata": {"groundingChunks": [{"web": {"uri": "https://c.example"}}]}})
    assert [source.uri for source in folder.citations(TEXT).sources][1:] == [
        "https://b.example",
        "https://c.example",
    ]


def test_there_is_an_end_to_what_is_kept() -> None:
    chunks = [{"web": {"uri": f"https://{n}.example"}} for n in range(SOURCES * 2)]
    supports = [
        {"segment": {"endIndex": end}, "groundingChunkIndices": [0, SOURCES + 5]}
        for end in range(1, PLACES * 2)
    ]
    metadata = {"groundingChunks": chunks, "groundingSupports": supports}
    found = citations_of({"groundingMetadata": metadata}, text="x" * PLACES * 3)
    assert len(found.sources) == SOURCES and len(found.places) == PLACES
    assert all(place.sources == (0,) for place in found.places)


KEYS = (
    *("groundingMetadata", "citationMetadata", "urlContextMetadata", "groundingChunks", "groundingSupports"),
    *("segment", "text", "endIndex", "startIndex", "groundingChunkIndices", "web", "maps", "uri", "title"),
    *("retrievedContext", "webSearchQueries", "urlMetadata", "retrievedUrl", "citationSources"),
)
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=30,
)


@given(st.dictionaries(st.sampled_from(KEYS[:3]), anything))
def test_any_metadata_is_read_and_stored(candidate: dict[str, Any]) -> None:
    found = citations_of(candidate)
    assert Citations.restored(orjson.loads(orjson.dumps(found.stored()))) == found
    assert all(place.end <= len(TEXT) for place in found.places)


@pytest.mark.parametrize("stored", [None, [], {"sources": 3}, {"places": [{"end": -1, "sources": []}]}])
def test_what_was_stored_in_another_shape_cites_nothing(stored: Any) -> None:
    assert not Citations.restored(stored)


def test_an_answer_without_metadata_cites_nothing() -> None:
    assert fold([text_chunk("Yes.", finish="STOP")]).citations.stored() == {}


def test_recorded_answers_cite_their_sources(recordings: Path) -> None:
    """Every recorded support names the words that it ends with, and all of them are found."""
    cited = 0
    for exchange in exchanges(recordings):
        supports = recorded_supports(exchange)
        if not supports or exchange["status"] != 200:
            continue
        reply = fold(bodies(exchange))
        assert reply.wire and reply.text == text_of(reply.wire)
        ends = {place.end for place in reply.citations.places}
        for support in supports:
            words = support["segment"]["text"]
            assert any(reply.text[:end].endswith(words) for end in ends), exchange["name"]
        cited += 1
    assert cited >= 8


def recorded_supports(exchange: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for chunk in exchange["response_chunks"]:
        for candidate in chunk.get("candidates") or ():
            found = (candidate.get("groundingMetadata") or {}).get("groundingSupports") or found
    return found


def test_a_folder_that_goes_on_keeps_its_citations() -> None:
    folder = Folder()
    folder.add(
        text_chunk(TEXT, beside=grounded({"segment": segment("Zürich"), "groundingChunkIndices": [0]}))
    )
    assert folder.reply().citations == folder.reply().citations
    assert ends(folder.reply().citations) == ["Zürich"]
