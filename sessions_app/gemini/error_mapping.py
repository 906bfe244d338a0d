"""Maps errors of the SDK, the transport and the provider to `errors.GatewayError`.

Sources: gemini-wire §5, recorded-traffic "Error bodies", google/rpc/error_details.proto. The
provider's sentence is the message, the hint says what a person can do. The API key is masked wherever a
proxy echoes it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pydantic
from google.genai import errors as sdk

from sessions_app.errors import (
    BadKey,
    BadRequest,
    BrokenStream,
    CacheGone,
    CacheOfOtherModel,
    CacheTooSmall,
    GatewayError,
    ProviderDown,
    QuotaExceeded,
    Redirected,
    SignatureMissing,
    SignatureRefused,
    UnknownModel,
    Unreachable,
    excerpt,
)
from sessions_app.gemini.retry_delays import retry_delay
from sessions_app.prompt.wire import well_formed

MASK = "[API key]"
SHORTEST_SECRET = 8
CERTAIN_SECRET = 20
"""Characters from which a key is masked inside a word too, since no word contains it by chance."""
MESSAGE_LIMIT = 2_000
"""Characters of a provider's message that are kept; an HTML error page can be longer than an answer."""

KEY_HINT = (
    "Check the API key: GEMINI_API_KEY, or the one that was entered on the page /key. "
    "Keys are made at https://aistudio.google.com/apikey."
)
MODEL_HINT = "Choose another model in the session's settings."
CACHE_HINT = "The text is sent again without the cache."
SIGNATURE_HINT = (
    "The provider does not take back the thought signatures of this conversation. Send a new message, choose "
    "another model, or go on in a new session."
)
UNSIGNED_HINT = (
    "The model demands a thought signature that this conversation does not have. Send a new message, choose "
    "another model, or go on in a new session."
)
SMALL_HINT = "The static layer is sent inline until it has grown."
QUOTA_HINT = "Wait and try again, or raise the limit in the provider's console."
DAILY_HINT = "The quota of the day is used up. Choose another model or wait until it is renewed."
DOWN_HINT = "This is usually over in a minute. Try again, or choose another model."
REACH_HINT = "Check the network, GOOGLE_GEMINI_BASE_URL and HTTPS_PROXY, then try again."
REDIRECT_HINT = (
    "The request, with its key, was not sent there. Set GOOGLE_GEMINI_BASE_URL to the address that answers."
)
BROKEN_OFF = (httpx2.ReadError, httpx2.WriteError, httpx2.CloseError, httpx2.RemoteProtocolError)
"""What the transport raises for a connection that was established and then broke."""

BROKEN_OFF_HINT = "Try again."
UNREADABLE = "The answer could not be read."
BROKEN_HINT = "The provider or something between broke the answer. Try again."
REGION_HINT = "The provider asks for billing, or does not serve this place."
REQUEST_HINT = "The request breaks a rule of the provider. The inspector shows what was sent."
FILE_HINT = "The provider no longer has a file that was attached, or is still reading it. Attach it again."
LONG_HINT = "Shorten the history or the files of this session."


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """An answer with one of `codes` (any, when empty) whose message matches `pattern`."""

    codes: frozenset[int]
    pattern: re.Pattern[str]
    error: type[GatewayError]
    hint: str

    def fits(self, code: int | None, text: str) -> bool:
        return (not self.codes or code in self.codes) and self.pattern.search(text) is not None


def _rule(codes: set[int], pattern: str, error: type[GatewayError], hint: str) -> ErrorRule:
    return ErrorRule(frozenset(codes), re.compile(pattern, re.IGNORECASE), error, hint)


_CLIENT_ERRORS = set(range(400, 500))
_SERVER_ERRORS = set(range(500, 600))
_REDIRECTS = set(range(300, 400))
_BUSY = {408, 429, *_SERVER_ERRORS}
"""Statuses after which the headers say when to come again; others may carry the same headers."""

_SIGNATURE = (
    r"((?<![\w/-])|(?<=\\n))((thought|thinking|reasoning)([ _-]?signatures?|\W{0,2} blocks?)"
    r"|signatures?\W{1,3}(in|of) (the |a )?\W?(thought|thinking|reasoning)\W? blocks?)(?![\w-])"
)
"""The field or the words, also of the blocks that have it elsewhere; not the page of the documentation that
other messages name."""

_REFUSING = (
    r"corrupt|invalid|malformed|mismatch|wrong|alter|modif|verification failed|"
    r"expired|reject|tamper|decod|unknown name|(not|n't|cannot|unable to) "
    r"(be )?(valid|match|verif|accept|recogni|supported|belong)"
)
_NEAR = r"[^.{}]{0,60}"
"""What may stand between the two: no end of a sentence and no signature, which an echoed request has."""

RULES = (
    _rule(set(), rf"missing (a |the |its )?\W?{_SIGNATURE}", SignatureMissing, UNSIGNED_HINT),
    _rule(
        set(),
        rf"({_REFUSING}){_NEAR}{_SIGNATURE}|{_SIGNATURE}{_NEAR}({_REFUSING})",
        SignatureRefused,
        SIGNATURE_HINT,
    ),
    _rule({400}, r"cached content is too small|minimum token count to start cach", CacheTooSmall, SMALL_HINT),
    _rule({403}, r"CachedContent", CacheGone, CACHE_HINT),
    _rule({404}, r"not found: cache content", CacheGone, CACHE_HINT),
    _rule({400}, r"invalid CachedContent name|cache\w* ?content.* is expired", CacheGone, CACHE_HINT),
    _rule({400}, r"cached ?content.*(not match the model|has to be the same)", CacheOfOtherModel, CACHE_HINT),
    _rule({400}, r"API_KEY_|API key (not valid|not found|expired)", BadKey, KEY_HINT),
    _rule({400, 403}, r"the File ", BadRequest, FILE_HINT),
    _rule({401, 403}, r"", BadKey, KEY_HINT),
    _rule({404}, r"\bmodels?\b", UnknownModel, MODEL_HINT),
    _rule({404}, r"", BadRequest, REACH_HINT),
    _rule({429}, r"PerDay", QuotaExceeded, DAILY_HINT),
    _rule({429}, r"", QuotaExceeded, QUOTA_HINT),
    _rule({400}, r"FAILED_PRECONDITION", BadRequest, REGION_HINT),
    _rule({400}, r"token count.*exceeds", BadRequest, LONG_HINT),
    _rule({413}, r"", BadRequest, LONG_HINT),
    _rule({408, 499}, r"", ProviderDown, DOWN_HINT),
    _rule(_CLIENT_ERRORS, r"", BadRequest, REQUEST_HINT),
    _rule(_SERVER_ERRORS, r"", ProviderDown, DOWN_HINT),
    _rule(_REDIRECTS, r"", Redirected, REDIRECT_HINT),
)
"""The first that fits wins; patterns are matched against the error object as one line of JSON."""

_HOPELESS = re.compile(r"PerDay|limit[:=] ?0\b")

TRANSPORT_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, httpx2.CookieConflict, httpx2.StreamError)
SDK_ERRORS = (
    sdk.APIError,
    sdk.UnknownApiResponseError,
    sdk.UnknownFunctionCallArgumentError,
    sdk.UnsupportedFunctionError,
    sdk.FunctionInvocationError,
    sdk.ContinuationInterruptedError,
    json.JSONDecodeError,
    UnicodeDecodeError,
    pydantic.ValidationError,
)


@contextmanager
def translated(secret: str = "") -> Iterator[None]:
    """Raises a GatewayError for whatever the SDK or the transport raises inside.

    The original is dropped: its frames and its request carry the API key.
    """
    try:
        yield
    except (*TRANSPORT_ERRORS, *SDK_ERRORS) as error:
        raise translate(error, secret) from None


def translate(error: Exception, secret: str = "") -> GatewayError:
    """The error of our tree for one of TRANSPORT_ERRORS or SDK_ERRORS."""
    if isinstance(error, sdk.APIError):
        headers = getattr(error.response, "headers", None)
        return error_of_answer(error.code, error.details, secret=secret, headers=headers)
    if isinstance(error, TRANSPORT_ERRORS):
        return _transport_error(error, secret)
    return BrokenStream(UNREADABLE, hint=f"{BROKEN_HINT} {_cause(error, secret)}")


def error_of_answer(
    code: int | None, body: Any, *, secret: str = "", headers: Mapping[str, str] | None = None
) -> GatewayError:
    """The error that an HTTP error body, or an error event in a stream, stands for.

    `code` is the HTTP status when the answer had one of its own; else the body's `code` counts.
    `body` is parsed JSON in any shape, most often `{"error": {"code", "message", "status", "details"}}`.
    `headers` are those of the answer, where it was an error as a whole.
    """
    details = masked(_object(body), secret)
    inner = _object(details.get("error", details))
    code = code or _integer(inner.get("code"))
    status = well_formed(str(inner.get("status") or ""))
    text = json.dumps(inner, ensure_ascii=False)
    rule = next((rule for rule in RULES if rule.fits(code, text)), None)
    return (rule.error if rule else GatewayError)(
        _message(inner) or f"The provider answered {code or 'with an error'} {status}".strip() + ".",
        hint=rule.hint if rule else BROKEN_HINT,
        code=code,
        status=status,
        details=details,
        retry_after=retry_delay(inner, headers if code in _BUSY else None),
    )


def is_worth_retrying(error: GatewayError) -> bool:
    """True where the same request can succeed in a minute: not for a quota of the day or of zero."""
    if isinstance(error, QuotaExceeded):
        return _HOPELESS.search(json.dumps(error.details)) is None
    return isinstance(error, ProviderDown | Unreachable)


def _message(error: Mapping[str, Any]) -> str:
    """The provider's sentence; empty where a proxy answered with a page."""
    message = well_formed(str(error.get("message") or "")).strip()
    return "" if message.startswith("<") else excerpt(message, MESSAGE_LIMIT)


def _transport_error(error: Exception, secret: str) -> GatewayError:
    cause = _cause(error, secret)
    if isinstance(error, httpx2.DecodingError | httpx2.StreamError):
        return BrokenStream(UNREADABLE, hint=f"{BROKEN_HINT} {cause}")
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable("The provider did not answer in time.", hint=f"{REACH_HINT} {cause}")
    if isinstance(error, BROKEN_OFF):
        return Unreachable("The connection to the provider broke.", hint=f"{BROKEN_OFF_HINT} {cause}")
    return Unreachable("The provider could not be reached.", hint=f"{REACH_HINT} {cause}")


def _cause(error: Exception, secret: str) -> str:
    """The library's own name and words, for whoever looks for the cause."""
    text = masked(well_formed(str(error)).strip().rstrip("."), secret)
    return f"({type(error).__name__}: {text})" if text else f"({type(error).__name__})"


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, dict) else {"message": str(value)} if value else {}


def _integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def masked(value: Any, secret: str) -> Any:
    """With the key replaced wherever it stands. A short one is replaced as a whole word only, and one
    below `SHORTEST_SECRET` not at all: it would take letters out of ordinary words."""
    if len(secret) < SHORTEST_SECRET:
        return value
    if isinstance(value, str):
        pattern = re.escape(secret)
        return re.sub(pattern if len(secret) >= CERTAIN_SECRET else rf"(?<!\w){pattern}(?!\w)", MASK, value)
    if isinstance(value, dict):
        return {key: masked(item, secret) for key, item in value.items()}
    return [masked(item, secret) for item in value] if isinstance(value, list) else value
