"""What is said of addresses for other programs and of their requests: to the programs, and on pages."""

import re

from sessions_app.error_codes import CaptureFault, RegroupProblem
from sessions_app.errors import NotRegrouped
from sessions_app.wording.sentences import fill

FAULTS: dict[str, str] = {
    CaptureFault.UNKNOWN_ADDRESS: "There is no such address. Make one on the page /capture/.",
    CaptureFault.REVOKED: "This address was revoked. Make another one on the page /capture/.",
    CaptureFault.EXPIRED: "This address has expired. Make another one on the page /capture/.",
    CaptureFault.SWITCHED_OFF: "Relaying is switched off here (PIPEWEB_CAPTURE).",
    CaptureFault.FROM_ELSEWHERE: (
        "Only programs on the machine of Pipeweb are relayed. An administrator can let others in with "
        "PIPEWEB_CAPTURE=network."
    ),
    CaptureFault.FROM_BROWSER: "Requests of web pages are not relayed: this one has an Origin or a cookie.",
    CaptureFault.WRONG_HOST: "The Host of this request is not one of Pipeweb's (ALLOWED_HOSTS).",
    CaptureFault.WRONG_PATH: (
        "This is no path of the Gemini API. It goes on after the address with /v1beta/, /v1/, /v1alpha/ or "
        "/upload/."
    ),
    CaptureFault.WRONG_METHOD: "The Gemini API has GET, POST, PUT, PATCH and DELETE; this is another method.",
    CaptureFault.CONTROL_CHARACTER: (
        "Its address or one of its headers holds a control character, which HTTP does not allow."
    ),
    CaptureFault.LIVE: "The Live API is not relayed: it travels over a socket, not as requests.",
    CaptureFault.UNCHECKED: "The address could not be checked, because the database does not answer.",
    CaptureFault.TOO_MANY: "Too many requests are being relayed at the same time.",
    CaptureFault.CLIENT_LEFT: "The program closed the connection before the end.",
    CaptureFault.NOT_REACHED: "The provider could not be reached.",
    CaptureFault.NOT_ANSWERED: (
        "The provider was reached, but the connection ended without an answer that can be read. Whether it "
        "worked on the request is not known."
    ),
    CaptureFault.NO_ANSWER: "The provider sent nothing for ten minutes.",
    CaptureFault.BROKEN_OFF: "The connection to the provider broke in the middle of the answer.",
    CaptureFault.STOPPED: "The server was stopped before the end.",
    CaptureFault.NOT_IN_FILE: "The file has no answer to it.",
    CaptureFault.NO_SERVER_KEY: (
        "This address uses the key of Pipeweb, and Pipeweb has none. Enter one, or make an address that "
        "passes the program's own key on."
    ),
    CaptureFault.NO_ALLOWANCE: (
        "This address uses the key of Pipeweb, and its owner may not ask models with it (personal limits)."
    ),
    CaptureFault.OVER_BUDGET: (
        "The budget of the address's owner is spent. Nothing was sent. The page /spending/ tells when it "
        "begins anew."
    ),
    CaptureFault.BUDGET_HELD: (
        "Answers under way may use up the budget of the address's owner, or of the installation. Nothing was "
        "sent. Ask again when they have ended."
    ),
    CaptureFault.NOT_BOOKED: (
        "This address uses the key of Pipeweb, and what the request costs could not be booked: recording is "
        "paused, or there is no room for more records. Nothing was sent."
    ),
    CaptureFault.NOT_READ: (
        "This address uses the key of Pipeweb, and what the request costs could not be booked: its body is "
        "packed, or is no JSON with contents, or its answer would be no JSON. Nothing was sent."
    ),
    CaptureFault.BUDGET_UNCHECKED: (
        "Whether the budget allows this request could not be checked, because the database does not answer. "
        "Nothing was sent."
    ),
    CaptureFault.NOT_WITH_SERVER_KEY: (
        "Not with the key of Pipeweb, which serves generateContent, streamGenerateContent, countTokens, "
        "models and uploaded files only: no budget counts the rest, or it is somebody else's."
    ),
    CaptureFault.REQUEST_TOO_LARGE: "The request is too large to relay: at most {limit:,} bytes.",
    CaptureFault.ANSWER_TOO_LARGE: "The answer is too large to relay: at most {limit:,} bytes.",
}

RELATIONS: dict[str, str] = {
    "opens": "first request",
    "continues": "goes on",
    "hop": "goes on with the answer",
    "retry": "sent again after a failure",
    "branch": "went back and asked otherwise",
    "repeat": "asked the same again",
    "side_call": "asks on its own",
    "sub_agent": "works on a call",
    "named": "same session by its name",
    "joined": "joined by hand",
}
"""What a request is to the one before it."""

ROLES: dict[str, str] = {"main": "main", "side": "beside", "sub_agent": "sub-agent"}
"""What a chain of requests is in its session."""

REGROUP_PROBLEMS: dict[str, str] = {
    RegroupProblem.NOT_CAPTURED: "This is a chat, not a session of another program.",
    RegroupProblem.SAME_SESSION: "This is the same session.",
    RegroupProblem.OTHER_ADDRESS: "The sessions are of different addresses.",
    RegroupProblem.UNDER_WAY: "A request is still under way. Try again when it has ended.",
    RegroupProblem.NOTHING_BEFORE: "Nothing comes before this request, so there is nothing to split it from.",
    RegroupProblem.PURGED: (
        "Payloads of requests that would be moved were purged, and without them they cannot be moved."
    ),
    RegroupProblem.TOO_MANY: (
        "{count:,} requests would be moved, and at most {limit:,} are moved at once. Split the session first."
    ),
}

OTHER_REQUESTS = "Other requests"
"""The heading of those that belong to no session."""

TOO_LARGE: dict[str, str] = {
    CaptureFault.REQUEST_TOO_LARGE: "The request is too large to relay.",
    CaptureFault.ANSWER_TOO_LARGE: "The answer is too large to relay.",
}
"""Where the limit is not known any more."""

_GUESSED = "{relation} (a guess)"
_NUMBERED = "{role} {number}"
_UNKNOWN_PROGRAM = "an unknown program"
_SDK, _RUNTIME = "google-genai-sdk", "gl-"
_COMMENT = re.compile(r"\([^)]*\)")
_MISSED_ONE = "One request was relayed but not recorded."
_TOO_MANY_ADDRESSES = "You have {limit:,} addresses already. Revoke one first."
_MISSED = "{number:,} requests were relayed but not recorded."
_ERASED_ONE = "The request is erased."
_ERASED = "{number:,} requests are erased."


def fault(code: str, *, limit: int = 0) -> str:
    """`limit` 0: unknown."""
    known = TOO_LARGE if not limit and code in TOO_LARGE else FAULTS
    return fill(known[code], {"limit": limit})


def regroup_problem(error: NotRegrouped) -> str:
    return fill(REGROUP_PROBLEMS[error.reason], error.figures)


def relation(code: str, *, is_guess: bool) -> str:
    said = RELATIONS[code]
    return fill(_GUESSED, {"relation": said}) if is_guess else said


def lane(role: str, number: int, count: int) -> str:
    """An agent beside the main one; numbered where there are several alike."""
    return fill(_NUMBERED, {"role": ROLES[role], "number": number}) if count > 1 else ROLES[role]


def missed(number: int) -> str:
    return fill(_MISSED, {"number": number}) if number > 1 else _MISSED_ONE


def too_many_addresses(limit: int) -> str:
    return fill(_TOO_MANY_ADDRESSES, {"limit": limit})


def erased(number: int) -> str:
    return fill(_ERASED, {"number": number}) if number > 1 else _ERASED_ONE


def products(user_agent: str) -> list[str]:
    """The products of a User-Agent, without their versions and comments."""
    return [product.partition("/")[0] for product in _COMMENT.sub(" ", user_agent).split()]


def program(user_agent: str) -> str:
    """What a program calls itself: the first product of its User-Agent, without the version. Google's SDK and
    the runtime stand before what is built on them: langchain-google-genai, google-adk.
    """
    names = products(user_agent)
    own = [name for name in names if name != _SDK and not name.startswith(_RUNTIME)]
    return next(iter(own or names), _UNKNOWN_PROGRAM)
