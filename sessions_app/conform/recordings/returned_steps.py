"""What earlier answers of a conversation produced, as far as a request returns their signatures."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions_app.conform.recordings.rules import Answer, ReturnedSteps, Wire
from sessions_app.emulator.gemini_requests import Content, GenerateRequest, turn_start
from sessions_app.emulator.wire_model import decode_bytes


@dataclass(slots=True)
class StepLedger:
    """The usage of each answer of one conversation by its signatures, which come back in either alphabet."""

    _usages: dict[object, Wire] = field(default_factory=dict)

    def remember(self, answer: Answer) -> None:
        if answer.is_reply:
            signed = (part["thoughtSignature"] for part in answer.parts if "thoughtSignature" in part)
            self._usages |= {decode_bytes(text): answer.chunks[-1]["usageMetadata"] for text in signed}

    def returned(self, request: Wire | None) -> ReturnedSteps | None:
        """The steps of the current turn; None where there is none, or one that is of no answer here."""
        contents = GenerateRequest.model_validate(request or {}).contents
        steps = [content for content in contents[turn_start(contents) :] if content.role == "model"]
        found = [self._usages.get(_first_signature(step)) for step in steps]
        usages = [usage for usage in found if usage is not None]
        return _summed(usages) if usages and len(usages) == len(found) else None


def _first_signature(step: Content) -> object:
    return next((part.thought_signature for part in step.parts if part.thought_signature), None)


def _summed(usages: Sequence[Wire]) -> ReturnedSteps:
    return ReturnedSteps(
        count=len(usages),
        thoughts=sum(usage.get("thoughtsTokenCount", 0) for usage in usages),
        total=usages[-1]["totalTokenCount"],
    )
