"""The error responses of the API.

Sources: gemini-wire §5 and recorded-traffic "Error bodies"; the newest recording wins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sessions_app.emulator.decisions import Rule
from sessions_app.errors import PipewebError

_TYPE = "type.googleapis.com/google.rpc."
_SIGNATURE_DOCS = "https://ai.google.dev/gemini-api/docs/thought-signatures"
_LIMIT_DOCS = "https://ai.google.dev/gemini-api/docs/rate-limits"
_QUOTA_METRIC = "generativelanguage.googleapis.com/generate_content_free_tier_requests"


class ApiError(PipewebError):
    """An error response. `code` is the HTTP status, `status` Google's name for it, `rule` what refused."""

    def __init__(
        self,
        code: int,
        status: str,
        message: str,
        details: list[dict[str, Any]] | None = None,
        *,
        rule: Rule = Rule.VALUE_INVALID,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.details = details
        self.rule = rule
        self.headers = headers or {}

    def payload(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        if self.details is not None:
            error["details"] = self.details
        return {"error": error}


def invalid(
    message: str, details: list[dict[str, Any]] | None = None, *, rule: Rule = Rule.VALUE_INVALID
) -> ApiError:
    return ApiError(400, "INVALID_ARGUMENT", message, details, rule=rule)


def invalid_key() -> ApiError:
    message = "API key not valid. Please pass a valid API key."
    service = "generativelanguage.googleapis.com"
    reason = {"reason": "API_KEY_INVALID", "domain": "googleapis.com", "metadata": {"service": service}}
    return invalid(
        message,
        [
            {"@type": _TYPE + "ErrorInfo", **reason},
            {"@type": _TYPE + "LocalizedMessage", "locale": "en-US", "message": message},
        ],
        rule=Rule.KEY_INVALID,
    )


def missing_key() -> ApiError:
    return ApiError(
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers (callers without established identity). "
        "Please use API Key or other form of API consumer identity to call this API.",
        rule=Rule.KEY_MISSING,
    )


def unknown_route(path: str) -> ApiError:
    return ApiError(404, "NOT_FOUND", f"The emulator has no method at {path}.", rule=Rule.ROUTE_UNKNOWN)


def unknown_model(name: str, version: str, method: str) -> ApiError:
    return ApiError(
        404,
        "NOT_FOUND",
        f"models/{name} is not found for API version {version}, or is not supported for {method}. "
        "Call ModelService.ListModels to see the list of available models and their supported methods.",
        rule=Rule.MODEL_UNKNOWN,
    )


def missing_model(name: str, version: str) -> ApiError:
    """As `models.get` was quoted in 2026; that the OpenAI-compatible API says the same is an assumption."""
    message = f"Model is not found: models/{name} for api version {version}"
    return ApiError(404, "NOT_FOUND", message, rule=Rule.MODEL_UNKNOWN)


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """`field` is a path in proto spelling, "" at the top level."""

    field: str
    description: str

    def describe(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def unknown_name(name: str, parent: str, reason: str) -> FieldViolation:
    """The violation by a name that the message at the path `parent` does not have."""
    where = f" at '{parent}'" if parent else ""
    return FieldViolation(parent, f'Invalid JSON payload received. Unknown name "{name}"{where}: {reason}')


def bad_fields(*violations: FieldViolation, rule: Rule = Rule.VALUE_INVALID) -> ApiError:
    """One line and one detail for each (zed#44875, gera2ld/ai.nvim#13)."""
    details = {
        "@type": _TYPE + "BadRequest",
        "fieldViolations": [violation.describe() for violation in violations],
    }
    return invalid("\n".join(violation.description for violation in violations), [details], rule=rule)


@dataclass(frozen=True, slots=True)
class RequestFlaw:
    """What the API requires of a request that its form does not say. `where` begins with the message."""

    where: str
    reason: str
    rule: Rule = Rule.VALUE_INVALID


def flawed(flaws: Sequence[RequestFlaw]) -> ApiError:
    """A line for each, without details (new-api#632, AIStudioToAPI#154)."""
    return invalid("".join(f"* {flaw.where}: {flaw.reason}\n" for flaw in flaws), rule=flaws[0].rule)


def missing_signature(name: str, position: int) -> ApiError:
    return invalid(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
        "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
        f"data, function call `default_api:{name}` , position {position}. "
        f"Please refer to {_SIGNATURE_DOCS} for more details.",
        rule=Rule.SIGNATURE_MISSING,
    )


def corrupted_signature() -> ApiError:
    return invalid("Corrupted thought signature.", rule=Rule.SIGNATURE_REFUSED)


def cache_gone() -> ApiError:
    message = "CachedContent not found (or permission denied)"
    return ApiError(403, "PERMISSION_DENIED", message, rule=Rule.CACHE_GONE)


def cache_too_small(total: int, minimum: int) -> ApiError:
    message = f"Cached content is too small. total_token_count={total}, min_total_token_count={minimum}"
    return invalid(message, rule=Rule.CACHE_TOO_SMALL)


def cache_beside_fields() -> ApiError:
    return invalid(
        "CachedContent can not be used with GenerateContent request setting system_instruction, tools or "
        "tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request.",
        rule=Rule.CACHE_BESIDE_FIELDS,
    )


def cache_of_other_model(model: str, cached: str) -> ApiError:
    return invalid(
        f"Model used by GenerateContent request (models/{model}) and CachedContent (models/{cached}) "
        "has to be the same.",
        rule=Rule.CACHE_OF_OTHER_MODEL,
    )


def free_storage(model: str, requested: int) -> ApiError:
    metric = "TotalCachedContentStorageTokensPerModelFreeTier"
    message = f"{metric} limit exceeded for model {model}: limit=0, requested={requested}"
    return ApiError(429, "RESOURCE_EXHAUSTED", message, rule=Rule.CACHE_NOT_PAID)


def file_gone(name: str) -> ApiError:
    message = f"You do not have permission to access the File {name} or it may not exist."
    return ApiError(403, "PERMISSION_DENIED", message, rule=Rule.FILE_GONE)


def file_not_ready(name: str) -> ApiError:
    message = f"The File {name} is not in an ACTIVE state and usage is not allowed."
    return ApiError(400, "FAILED_PRECONDITION", message, rule=Rule.FILE_NOT_READY)


def missing_bearer() -> ApiError:
    """The OpenAI-compatible API without a key."""
    return invalid("Missing or invalid Authorization header.", rule=Rule.KEY_MISSING)


def too_long(limit: int) -> ApiError:
    message = f"The input token count exceeds the maximum number of tokens allowed ({limit})."
    return invalid(message, rule=Rule.PROMPT_TOO_LONG)


def unsupported_location() -> ApiError:
    message = "User location is not supported for the API use."
    return ApiError(400, "FAILED_PRECONDITION", message, rule=Rule.FAULT)


def exhausted(headers: Mapping[str, str] | None = None) -> ApiError:
    """429 of shared capacity: its body names no quota and no delay (gemini-wire §5.4)."""
    message = "Resource has been exhausted (e.g. check quota)."
    return ApiError(429, "RESOURCE_EXHAUSTED", message, rule=Rule.FAULT, headers=headers)


def quota(model: str, seconds: int = 2) -> ApiError:
    """429 with RetryInfo. `seconds` is short, so that a person sees the countdown end."""
    message = (
        "You exceeded your current quota, please check your plan and billing details. For more information "
        f"on this error, head to: {_LIMIT_DOCS}. To monitor your current usage, head to: "
        f"https://ai.dev/rate-limit. \n* Quota exceeded for metric: {_QUOTA_METRIC}, limit: 20, "
        f"model: {model}\nPlease retry in {seconds}s."
    )
    violation = {
        "quotaMetric": _QUOTA_METRIC,
        "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
        "quotaDimensions": {"location": "global", "model": model},
        "quotaValue": "20",
    }
    link = {"description": "Learn more about Gemini API quotas", "url": _LIMIT_DOCS}
    return ApiError(
        429,
        "RESOURCE_EXHAUSTED",
        message,
        [
            {"@type": _TYPE + "Help", "links": [link]},
            {"@type": _TYPE + "QuotaFailure", "violations": [violation]},
            {"@type": _TYPE + "RetryInfo", "retryDelay": f"{seconds}s"},
        ],
        rule=Rule.FAULT,
    )


def overloaded() -> ApiError:
    return ApiError(
        503,
        "UNAVAILABLE",
        "This model is currently experiencing high demand. Spikes in demand are usually temporary. "
        "Please try again later.",
        rule=Rule.FAULT,
    )


def internal() -> ApiError:
    return ApiError(
        500,
        "INTERNAL",
        "An internal error has occurred. Please retry or report in "
        "https://developers.generativeai.google/guide/troubleshooting",
        rule=Rule.FAULT,
    )
