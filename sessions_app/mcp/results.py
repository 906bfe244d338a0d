"""What a tool answered, as the response of a function."""

import json
from collections.abc import Mapping
from typing import Any

import mcp_types

from sessions_app.errors import ToolError
from sessions_app.mcp.refusals import masked

NOT_SHOWN = "Not passed on: a function response holds text here. Tell the user that there is more."
FAILED = "The tool failed without a reason."


def response_of(result: mcp_types.CallToolResult, secrets: Mapping[str, str]) -> dict[str, Any]:
    """Text and structured content; of images, audio and files what they are.

    Raises ToolError for a failure, without the server's `secrets`, which failures quote.
    """
    texts, left = list[str](), list[dict[str, Any]]()
    for block in result.content:
        match block:
            case mcp_types.TextContent(text=text):
                texts.append(text)
            case mcp_types.ResourceLink():
                left.append({"type": "link", "uri": str(block.uri), "name": block.name})
            case mcp_types.EmbeddedResource(resource=mcp_types.TextResourceContents() as file):
                texts.append(f"{file.uri}\n{file.text}")
            case mcp_types.EmbeddedResource(resource=file):
                left.append({"type": "file", "uri": str(file.uri), "mime_type": file.mime_type or ""})
            case mcp_types.ImageContent() | mcp_types.AudioContent():
                size = len(block.data) * 3 // 4
                left.append({"type": block.type, "mime_type": block.mime_type, "bytes": size})
    if result.is_error:
        raise ToolError(masked("\n".join(texts).strip(), secrets) or FAILED, hint="The server said so.")
    return _response("\n".join(texts), result.structured_content, left)


def _response(text: str, structured: Any, left: list[dict[str, Any]]) -> dict[str, Any]:
    response: dict[str, Any] = {}
    if text and not (structured is not None and _says_the_same(text, structured)):
        response["text"] = text
    if structured is not None:
        response["structured"] = structured
    if left:
        response |= {"more": left, "note": NOT_SHOWN}
    return response or {"text": ""}


def _says_the_same(text: str, structured: Any) -> bool:
    """Servers repeat structured content as text, for clients that do not know it."""
    try:
        return bool(json.loads(text) == structured)
    except (ValueError, RecursionError):
        return False
