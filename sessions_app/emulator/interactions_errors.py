"""Errors of the Interactions API: `{"error": {"message", "code"}}`, where the code is a word.

Google's page "API errors" lists the codes with their statuses. Failures of the API key are not in this
form: they are answered before the Interactions API, as a list of one error of the native form.
"""

from collections.abc import Mapping
from typing import Any

from sessions_app.emulator.api_errors import ApiError
from sessions_app.emulator.decisions import Rule

_WORDS = {
    "INVALID_ARGUMENT": "invalid_request",
    "FAILED_PRECONDITION": "failed_precondition",
    "PERMISSION_DENIED": "permission_denied",
    "NOT_FOUND": "not_found",
    "RESOURCE_EXHAUSTED": "rate_limit_exceeded",
    "UNAVAILABLE": "service_unavailable",
}
_OTHER = "api_error"
_OUR_OWN_END = frozenset({"STOP", "MAX_TOKENS", "CONTINUATION"})


class InteractionError(ApiError):
    """`word` is the code in the body, `code` the HTTP status."""

    def __init__(
        self,
        code: int,
        word: str,
        message: str,
        *,
        rule: Rule = Rule.VALUE_INVALID,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code, "", message, rule=rule, headers=headers)
        self.word = word

    def payload(self) -> dict[str, Any]:
        return {"error": self.description()}

    def description(self) -> dict[str, str]:
        """What stands in an error body, in an `error` event and in `errors` of an interaction."""
        return {"message": str(self), "code": self.word}


def as_interaction_error(error: ApiError) -> InteractionError:
    """The same error in the form of the Interactions API."""
    if isinstance(error, InteractionError):
        return error
    word = _WORDS.get(error.status, _OTHER)
    return InteractionError(error.code, word, str(error), rule=error.rule, headers=error.headers)


def blocked(reason: str, message: str) -> InteractionError:
    """What stopped a generation: the word is Gemini's finish or block reason in lower case."""
    word = "content_blocked" if reason == "OTHER" else reason.lower()
    return InteractionError(200, word, message or f"The generation was stopped: {reason}.")


def is_failure(reason: str) -> bool:
    """True for a finish reason that is neither an end, a limit nor a pause."""
    return bool(reason) and reason not in _OUR_OWN_END


def refused(message: str) -> InteractionError:
    return InteractionError(400, "invalid_request", message)


def unknown_parameter(name: str, path: str) -> InteractionError:
    where = f" at '{path}'" if path else ""
    return InteractionError(
        400, "parameter_unknown", f"Unknown parameter '{name}'{where}.", rule=Rule.FIELD_UNKNOWN
    )


def unknown_model(name: str) -> InteractionError:
    return InteractionError(404, "model_not_found", f"Model '{name}' not found.", rule=Rule.MODEL_UNKNOWN)


def not_found(name: str) -> InteractionError:
    return InteractionError(404, "not_found", f"Interaction '{name}' not found.", rule=Rule.INTERACTION_GONE)


def unimplemented(what: str) -> InteractionError:
    return InteractionError(
        501, "unimplemented", f"The emulator does not implement {what}.", rule=Rule.UNIMPLEMENTED
    )


def legacy_schema() -> InteractionError:
    """The answer to turns of role and content, as reported in June 2026."""
    return refused(
        "The legacy Interactions API schema is no longer supported. Please upgrade your client SDK to "
        "Python >= 2.0.0 or JavaScript/TypeScript >= 2.0.0 to adopt the new 'steps' schema. For details and "
        "migration examples, see: https://ai.google.dev/gemini-api/docs/interactions-breaking-changes-may-2026"
    )
