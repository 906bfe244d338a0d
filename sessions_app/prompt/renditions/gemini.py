"""Gemini's own form: REST JSON."""

from sessions_app.prompt import wire
from sessions_app.prompt.renditions.original import Original


def inline(original: Original) -> bytes:
    """The request body with everything in it, as `payload.assemble` writes it when nothing is cached."""
    texts = b'"},{"text":"'.join(piece for piece in (original.static_wire, original.dynamic_wire) if piece)
    contents = (b'{"role":"user","parts":[{"text":"' + texts + b'"}]}', *original.turns)
    tools = b'"tools":' + original.tools_wire + b"," if original.tools_wire else b""
    return b"{" + tools + b'"contents":[' + b",".join(contents) + _tail(original)


def _tail(original: Original) -> bytes:
    named = original.end.get("cachedContent")
    cached = b',"cachedContent":' + wire.dumps(named) if named else b""
    return original.tail.replace(cached, b"", 1)
