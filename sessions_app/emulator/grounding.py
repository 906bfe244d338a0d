"""`groundingMetadata` and `urlContextMetadata` of a candidate, as recorded in 2025 and 2026.

`startIndex` and `endIndex` are byte offsets in the UTF-8 text, a start of 0 is left out. Sources of a
search are links that redirect, so an address says nothing about its page but the title does.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from urllib.parse import quote_plus

from sessions_app.emulator.provider_tools import is_unreachable
from sessions_app.emulator.scripted_reply import ToolUse
from sessions_app.emulator.wire_model import JsonObject

_REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
_PAGES = ("example.com", "example.org")
_SENTENCE = re.compile(r"\S.*?(?:[.!?](?=\s|$)|$)", re.S)
_STYLE = (
    ".container{align-items:center;border-radius:8px;display:flex;font-family:sans-serif;padding:8px 12px}"
    ".carousel{overflow:auto;white-space:nowrap}"
    ".chip{border:1px solid #dadce0;border-radius:16px;color:#1f1f1f;display:inline-block;font-size:14px;"
    "margin:0 8px 0 0;padding:4px 12px;text-decoration:none}"
    "@media (prefers-color-scheme:dark){.chip{border-color:#444746;color:#e3e3e3}}"
)


def grounding_metadata(uses: Sequence[ToolUse], text: str) -> JsonObject:
    """The metadata of a text that rests on these uses; empty without a search or a page among them."""
    queries = [query for use in uses for query in use.queries]
    sources = [_found(query, page) for query in queries for page in _PAGES]
    sources += [_page(url) for use in uses for url in use.urls if not is_unreachable(url)]
    found: JsonObject = (
        {"searchEntryPoint": {"renderedContent": search_entry_point(queries)}} if queries else {}
    )
    if sources:
        found["groundingChunks"] = [{"web": source} for source in sources]
        found["groundingSupports"] = list(_supports(text, len(sources)))
    return found | ({"webSearchQueries": queries} if queries else {})


def url_context_metadata(uses: Iterable[ToolUse]) -> JsonObject:
    """Which pages were retrieved; empty where the tool was not used."""
    found = [
        {
            "retrievedUrl": url,
            "urlRetrievalStatus": f"URL_RETRIEVAL_STATUS_{'ERROR' if is_unreachable(url) else 'SUCCESS'}",
        }
        for use in uses
        for url in use.urls
    ]
    return {"urlMetadata": found} if found else {}


def search_entry_point(queries: Iterable[str]) -> str:
    """The HTML that Google wants shown beside a grounded answer."""
    chips = "".join(
        f'    <a class="chip" href="https://www.google.com/search?q={quote_plus(query)}">{escape(query)}</a>\n'
        for query in queries
    )
    return (
        f'<style>\n{_STYLE}\n</style>\n<div class="container">\n  <div class="carousel">\n{chips}'
        "  </div>\n</div>\n"
    )


def _found(query: str, page: str) -> JsonObject:
    token = base64.urlsafe_b64encode(hashlib.shake_256(f"{page}\0{query}".encode()).digest(96)).decode()
    return {"uri": _REDIRECT + token, "title": page}


def _page(url: str) -> JsonObject:
    return {"uri": url, "title": url.split("/")[2]}


def _supports(text: str, sources: int) -> Iterator[JsonObject]:
    """One for each sentence, the sources in turn."""
    for number, match in enumerate(_SENTENCE.finditer(text)):
        start, end = (len(text[:position].encode()) for position in match.span())
        segment = ({"startIndex": start} if start else {}) | {"endIndex": end, "text": match[0]}
        yield {"segment": segment, "groundingChunkIndices": [number % sources]}
