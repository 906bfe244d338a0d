"""Thought signatures: how they are made, which answers carry them, and which are accepted.

A signature holds the digest of its step and the thoughts' token count, encrypted, under a MAC
over the model. Nothing is stored: any process with the same secret can check it. Altered bytes,
another model's and another provider's signatures fail alike. Form, sizes and places:
recorded-traffic "Signatures".
"""

import base64
import hashlib
import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sessions_app.emulator.answer_form import Signable
from sessions_app.emulator.api_errors import corrupted_signature, missing_signature
from sessions_app.emulator.catalogue import Model
from sessions_app.emulator.gemini_requests import Content, Part, turn_start

DUMMY_WORDS = ("context_engineering_is_the_way_to_go", "skip_thought_signature_validator")
DUMMIES = frozenset(word.encode() for word in DUMMY_WORDS) | frozenset(
    base64.urlsafe_b64decode(word) for word in DUMMY_WORDS
)

_KEY_ID = b"\x01pwem"
_NONCE, _MAC, _STEP, _THOUGHTS = 16, 16, 8, 4
_BYTES_PER_THOUGHT = 4


@dataclass(frozen=True, slots=True)
class SignatureClaims:
    """The content of a valid signature. `step` is the digest of the step it belongs to."""

    step: bytes
    thoughts: int


class Signer:
    """Makes and reads signatures. Processes with the same `secret` accept each other's; `known` are
    foreign signatures that are accepted without being read."""

    def __init__(self, secret: bytes, known: Collection[bytes] = ()) -> None:
        self._secret = secret
        self.known = known

    def sign(self, model: Model, response_id: str, step: str, thoughts: int) -> bytes:
        """A signature of 54 bytes at least under Flash-Lite, 100 elsewhere; longer after many thoughts."""
        nonce = hashlib.sha256(response_id.encode()).digest()[:_NONCE]
        size = max(model.seal_size, _BYTES_PER_THOUGHT * thoughts)
        plain = (step_digest(step) + thoughts.to_bytes(_THOUGHTS, "big")).ljust(size, b"\0")
        sealed = self._mask(model, nonce, plain)
        return _wrap(model, nonce + self._mac(model, nonce, sealed) + sealed)

    def open(self, model: Model, signature: bytes) -> SignatureClaims | None:
        """None for anything that no signer with this secret made for this model."""
        inner = signature.partition(_KEY_ID)[2]
        nonce, mac, sealed = inner[:_NONCE], inner[_NONCE : _NONCE + _MAC], inner[_NONCE + _MAC :]
        if signature != _wrap(model, inner) or not hmac.compare_digest(mac, self._mac(model, nonce, sealed)):
            return None
        plain = self._mask(model, nonce, sealed)
        return SignatureClaims(plain[:_STEP], int.from_bytes(plain[_STEP : _STEP + _THOUGHTS], "big"))

    def _mac(self, model: Model, nonce: bytes, sealed: bytes) -> bytes:
        return hmac.digest(self._secret, model.version.encode() + b"\0" + nonce + sealed, "sha256")[:_MAC]

    def _mask(self, model: Model, nonce: bytes, data: bytes) -> bytes:
        stream = hashlib.shake_256(self._secret + model.version.encode() + b"\0" + nonce).digest(len(data))
        return bytes(left ^ right for left, right in zip(data, stream, strict=True))


def step_digest(step: str) -> bytes:
    """`step` is the name of the step's first function, or "text"."""
    return hashlib.sha256(step.encode()).digest()[:_STEP]


def check_signatures(contents: Sequence[Content], model: Model, signer: Signer) -> None:
    """Strict on the current turn of Gemini 3 and later; earlier turns and models are not checked.

    Raises ApiError (400) for the first call of a step without a signature, and for a signature that
    this emulator did not make for this model and step.
    """
    if not model.checks_signatures:
        return
    for index in range(turn_start(contents), len(contents)):
        if contents[index].role == "model":
            _check_step(contents[index], index + 1, model, signer)


def restored_thoughts(
    contents: Sequence[Content], model: Model, signer: Signer, *, past_turns: bool = False
) -> int:
    """Thought tokens behind the first signature of each step of the current turn, or of all: billed as
    prompt, in the last chunk only.

    Recorded: pydantic-ai, instructions-only-with-tool-calls (five steps); gemini-cli,
    browser-agent-persistent-session (jumps of 97 and 97 + 144). Past turns: whole answers of 3.5 Flash in
    google/adk-go, TestTailRetentionE2E (2026-08-31); that calls and streams are alike is an assumption.
    """
    start = 0 if past_turns else turn_start(contents)
    steps = (content for content in contents[start:] if content.role == "model")
    return sum(_thoughts(content, model, signer) for content in steps)


def _thoughts(content: Content, model: Model, signer: Signer) -> int:
    signed = next((part.thought_signature for part in content.parts if part.thought_signature), None)
    claims = signer.open(model, signed) if signed else None
    return claims.thoughts if claims else 0


def signable(*, calls: bool, thought: bool, after_tools: bool, declares_functions: bool) -> Signable:
    """What an answer is, where the question is whether it is signed."""
    if calls:
        return Signable.CALL if thought else Signable.CALL_UNTHOUGHT
    if thought:
        return Signable.TEXT_WITH_FUNCTIONS if declares_functions else Signable.TEXT
    return Signable.RESULT_UNTHOUGHT if after_tools else Signable.TEXT_UNTHOUGHT


def _check_step(content: Content, position: int, model: Model, signer: Signer) -> None:
    calls = content.calls
    if calls and calls[0].thought_signature is None:
        raise missing_signature(_name(calls[0]), position)
    for part in content.parts:
        if part.thought_signature and not _is_accepted(part, part.thought_signature, model, signer):
            raise corrupted_signature()


def _is_accepted(part: Part, signature: bytes, model: Model, signer: Signer) -> bool:
    if signature in DUMMIES or signature in signer.known:
        return True
    claims = signer.open(model, signature)
    return claims is not None and (part.function_call is None or claims.step == step_digest(_name(part)))


def _name(part: Part) -> str:
    return part.function_call.name if part.function_call else ""


def _wrap(model: Model, inner: bytes) -> bytes:
    body = _field(0x0A, _KEY_ID + inner)
    return _field(0x12, body) if model.generation >= 3 else body


def _field(tag: int, value: bytes) -> bytes:
    """A length-delimited protobuf field."""
    size, length = len(value), b""
    while size > 0x7F:
        length += bytes((size & 0x7F | 0x80,))
        size >>= 7
    return bytes((tag,)) + length + bytes((size,)) + value
