"""The provider's own tools as steps: code execution, searches, pages.

generateContent tells of them by parts (`executableCode`, `toolCall`) or only in the metadata of the
candidate. Parts stay where they are and keep their signature. What the metadata tells comes behind the
text, as recorded in May 2026.
"""

from collections.abc import Iterator, Sequence

from sessions_app.emulator.interactions_requests import InteractionStep
from sessions_app.emulator.interactions_step_runs import StepRun
from sessions_app.emulator.wire_model import JsonObject

_NAMES = {
    "GOOGLE_SEARCH": "google_search",
    "URL_CONTEXT": "url_context",
    "FILE_SEARCH": "file_search",
    "GOOGLE_MAPS": "google_maps",
}
_KEYS = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
_SUCCESS = "URL_RETRIEVAL_STATUS_SUCCESS"


def is_tool_part(part: JsonObject) -> bool:
    return any(key in part for key in _KEYS)


def opens_call(part: JsonObject) -> bool:
    """False for a result, which has the id of the call before it."""
    return "executableCode" in part or "toolCall" in part


def tool_run(part: JsonObject, made_id: str) -> StepRun:
    """`made_id` serves where the native part has no id."""
    signed = {"signature": part["thoughtSignature"]} if "thoughtSignature" in part else {}
    if code := part.get("executableCode"):
        arguments = {"language": code.get("language", "").lower(), "code": code.get("code", "")}
        return _call("code_execution", made_id, arguments, signed)
    if printed := part.get("codeExecutionResult"):
        failed = {"is_error": printed.get("outcome") != "OUTCOME_OK"}
        return _result("code_execution", made_id, printed.get("output", ""), signed | failed)
    told = part.get("toolCall") or part["toolResponse"]
    name, call_id = _name(told.get("toolType", "")), told.get("id", made_id)
    if "toolCall" in part:
        return _call(name, call_id, told.get("args", {}), signed)
    response = told.get("response", {})
    return _result(name, call_id, [response] if response else [], signed)


def metadata_runs(candidate: JsonObject, made_id: str) -> Iterator[StepRun]:
    """Uses of tools that stand in the metadata of the candidate alone."""
    grounding = candidate.get("groundingMetadata", {})
    if queries := grounding.get("webSearchQueries"):
        shown = grounding.get("searchEntryPoint", {}).get("renderedContent", "")
        yield _call("google_search", f"{made_id}s", {"queries": queries}, {})
        yield _result("google_search", f"{made_id}s", [{"search_suggestions": shown}], {})
    if pages := candidate.get("urlContextMetadata", {}).get("urlMetadata"):
        yield _call(
            "url_context", f"{made_id}u", {"urls": [page.get("retrievedUrl", "") for page in pages]}, {}
        )
        yield _result("url_context", f"{made_id}u", [_page(page) for page in pages], {})


def annotations(candidate: JsonObject) -> list[JsonObject]:
    """Which source supports which bytes of the text."""
    grounding = candidate.get("groundingMetadata", {})
    sources = [chunk.get("web", {}) for chunk in grounding.get("groundingChunks", ())]
    return [
        {
            "type": "url_citation",
            "url": sources[index].get("uri", ""),
            "title": sources[index].get("title", ""),
            "start_index": support.get("segment", {}).get("startIndex", 0),
            "end_index": support.get("segment", {}).get("endIndex", 0),
        }
        for support in grounding.get("groundingSupports", ())
        for index in support.get("groundingChunkIndices", ())
        if sources[index]
    ]


def tool_parts(step: InteractionStep) -> list[JsonObject]:
    """The native parts of a step that came back. One made from metadata has no signature and no part."""
    arguments = step.arguments or {}
    if step.type == "code_execution_call":
        language = str(arguments.get("language", "python")).upper()
        return [{"executableCode": {"language": language, "code": arguments.get("code", "")}}]
    if step.type == "code_execution_result":
        outcome = "OUTCOME_FAILED" if step.is_error else "OUTCOME_OK"
        return [{"codeExecutionResult": {"outcome": outcome, "output": step.result}}]
    if not step.signature:
        return []
    kind = step.type.removesuffix("_call").removesuffix("_result").upper()
    if step.type.endswith("_call"):
        return [{"toolCall": {"toolType": kind, "id": step.id, "args": arguments}}]
    response = step.result[0] if isinstance(step.result, list) and step.result else {}
    return [{"toolResponse": {"toolType": kind, "id": step.call_id, "response": response}}]


def _name(tool_type: str) -> str:
    """Types have endings, as in GOOGLE_SEARCH_WEB."""
    return next((name for kind, name in _NAMES.items() if tool_type.startswith(kind)), tool_type.lower())


def _call(name: str, call_id: str, arguments: JsonObject, signed: JsonObject) -> StepRun:
    kind = f"{name}_call"
    if name == "file_search":
        return StepRun({"type": kind, "id": call_id}, _deltas({"type": kind} | signed))
    return StepRun(
        {"type": kind, "id": call_id, "arguments": {}},
        _deltas({"type": kind, "arguments": arguments} | signed),
    )


def _result(name: str, call_id: str, result: object, signed: JsonObject) -> StepRun:
    kind = f"{name}_result"
    start: JsonObject = {"type": kind, "call_id": call_id}
    if name != "file_search":
        start["result"] = "" if isinstance(result, str) else []
    return StepRun(start, _deltas({"type": kind, "result": result} | signed))


def _deltas(delta: JsonObject) -> Sequence[JsonObject]:
    return (delta,)


def _page(page: JsonObject) -> JsonObject:
    status = "success" if page.get("urlRetrievalStatus") == _SUCCESS else "error"
    return {"url": page.get("retrievedUrl", ""), "status": status}
