"""The keys of Gemini's wire JSON are picked apart in one place: `prompt.parts` and its neighbours."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

APP = Path(__file__).parents[1] / "sessions_app"

READERS = {
    "prompt/parts.py": "parts and contents",
    "prompt/calls.py": "a call that comes in pieces",
    "prompt/chunks.py": "what stands around the parts",
    "prompt/citations.py": "what an answer rests on",
}
OTHERS = {
    "audit/": "computes again what the product read, and shares nothing with it",
    "emulator/": "plays the provider and knows nothing of ours",
    "conform/recordings/": "judges the emulator by the provider's own JSON",
    "prompt/dialects/openai_chunks.py": "writes the chunk that Gemini would have sent",
    "prompt/dialects/interactions_conversation.py": "writes the counts that Gemini would have sent",
}
PART_KEYS = (
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
    "thoughtSignature",
    "videoMetadata",
    "partMetadata",
    "partialArgs",
    "willContinue",
    "fileUri",
)
ENVELOPE_KEYS = (
    "candidates",
    "finishReason",
    "finishMessage",
    "usageMetadata",
    "promptFeedback",
    "blockReason",
    "modelVersion",
    "responseId",
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
    "groundingMetadata",
    "groundingChunks",
    "groundingSupports",
    "citationMetadata",
    "citationSources",
    "urlContextMetadata",
    "urlMetadata",
)


def snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)


FOREIGN_EVERYWHERE = {*PART_KEYS, *ENVELOPE_KEYS}
"""No word of ours: a string that is one of these is a wire key."""

FOREIGN_AS_KEY = {*map(snake, PART_KEYS), "parts"}
"""Also names of kinds and columns: they are wire keys where an object is asked for them."""


def wire_keys_in(source: str) -> Iterator[tuple[int, str]]:
    """(line, key) wherever the source asks an object for a key of the wire, or writes one."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            yield from ((node.lineno, key) for key in _named(node) if key in FOREIGN_EVERYWHERE)
        for key in _asked(node):
            yield from ((key.lineno, name) for name in _named(key) if name in FOREIGN_AS_KEY)


def _named(node: ast.expr) -> Iterator[str]:
    """The words of a short literal: a key is one word, a pattern or JSON text quotes it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        yield text
        yield from (quoted for quoted in text.split('"')[1::2])


def _asked(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.Subscript(slice=ast.Constant() as key):
            yield key
        case ast.Call(
            func=ast.Attribute(attr="get" | "pop" | "setdefault"), args=[ast.Constant() as key, *_]
        ):
            yield key
        case ast.Compare(left=ast.Constant() as key, ops=[ast.In() | ast.NotIn()]):
            yield key
        case ast.Dict(keys=keys) if {"role", "parts"} <= {getattr(key, "value", None) for key in keys}:
            yield from (key for key in keys if key is not None)


def test_wire_keys_are_read_in_one_place() -> None:
    allowed = (*READERS, *OTHERS)
    found = [
        f"sessions_app/{name}:{line} {key}"
        for path in sorted(APP.rglob("*.py"))
        if not (name := path.relative_to(APP).as_posix()).startswith(allowed)
        for line, key in wire_keys_in(path.read_text())
    ]
    assert not found, "use prompt.parts or prompt.chunks:\n" + "\n".join(found)


@pytest.mark.parametrize("name", [*READERS, *OTHERS])
def test_whoever_may_pick_keys_does(name: str) -> None:
    paths = (APP / name).rglob("*.py") if name.endswith("/") else [APP / name]
    assert any(any(wire_keys_in(path.read_text())) for path in paths)


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ('part.get("functionCall")', "functionCall"),
        ('KEYS = ("inlineData",)', "inlineData"),
        ("BODY = b'{\"usageMetadata\": 1}'", "usageMetadata"),
        ('part["function_call"]', "function_call"),
        ('"thought_signature" in part', "thought_signature"),
        ('content.get("parts")', "parts"),
        ('{"role": "user", "parts": []}', "parts"),
    ],
)
def test_every_way_to_pick_a_key_is_seen(source: str, key: str) -> None:
    assert (1, key) in set(wire_keys_in(source))


@pytest.mark.parametrize(
    "source", ['KIND = "function_call"', 'context = {"parts": parts, "exchange": one}', 'f"{parts}"']
)
def test_names_of_ours_are_left_alone(source: str) -> None:
    assert not list(wire_keys_in(source))
