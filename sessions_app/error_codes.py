"""The codes of errors that are stored or shown: their sentences are in `wording`."""

from enum import StrEnum


class RefusalCode(StrEnum):
    """Why a request is not made, or its answer not read. The comments name the figures."""

    # No figures, or turn.
    NO_TURNS = "no_turns"
    CHAT_ERASED = "chat_erased"
    NO_TRIGGER = "no_trigger"
    EMPTY_TRIGGER = "empty_trigger"
    EMPTY_BODY = "empty_body"
    EMPTY_TURN = "empty_turn"
    EMPTY_PART = "empty_part"
    ENDS_WITH_MODEL = "ends_with_model"
    BEGINS_WITH_RESULTS = "begins_with_results"
    UNANSWERED_CALLS = "unanswered_calls"
    UNASKED_RESULTS = "unasked_results"
    UNORDERED_RESULTS = "unordered_results"
    RESULTS_OF_MODEL = "results_of_model"
    CALLS_AFTER_MODEL = "calls_after_model"
    NAIVE_CLOCK = "naive_clock"
    TWO_THINKING_SETTINGS = "two_thinking_settings"
    # turn, following, calls, results | turn, part | what, keys | key.
    UNEQUAL_RESULTS = "unequal_results"
    UNSIGNED_FIRST_CALL = "unsigned_first_call"
    REPEATED_KEYS = "repeated_keys"
    PANEL_KEY_RESERVED = "panel_key_reserved"
    # violations: a list of {rule, **figures of the rule}.
    HISTORY_INVALID = "history_invalid"
    # Those of prompt.pricing.Budget.
    BUDGET_SPENT = "budget_spent"
    BUDGET_HELD = "budget_held"
    # spent, limit.
    MAX_ROUNDS = "max_rounds"
    MAX_TOKENS = "max_tokens"
    MAX_USD = "max_usd"
    MAX_SECONDS = "max_seconds"
    MAX_CONTINUATIONS = "max_continuations"
    MAX_HOPS = "max_hops"
    # limit (bytes) | levels, containers | encoding.
    EVENT_TOO_LARGE = "event_too_large"
    ANSWER_TOO_LARGE = "answer_too_large"
    ANSWER_TOO_COMPLEX = "answer_too_complex"
    ANSWER_COMPRESSED = "answer_compressed"
    # No figures.
    ANSWER_UNREADABLE = "answer_unreadable"
    # used, limit, seconds (until there is room; None: unknown).
    RUNS_AT_ONCE = "runs_at_once"
    SENDS_PER_MINUTE = "sends_per_minute"
    SOCKETS = "sockets"
    UPLOAD_MB_PER_DAY = "upload_mb_per_day"
    STORAGE_MB = "storage_mb"
    SESSIONS = "sessions"
    SHARED_LINKS = "shared_links"
    IMPORTS_AT_ONCE = "imports_at_once"


class ImportProblem(StrEnum):
    """Why a file is not imported. The comments name the figures."""

    # byte.
    NOT_JSON = "not_json"
    # No figures.
    UNKNOWN_FORMAT = "unknown_format"
    NO_MESSAGES = "no_messages"
    # where, expected (`ExpectedValue`).
    UNEXPECTED = "unexpected"
    # byte, limit.
    TOO_DEEP = "too_deep"
    # where, problem: of a file of Pipeweb, and of one from elsewhere.
    WRONG = "wrong"
    NOT_KEPT = "not_kept"
    # where, limit.
    TOO_MANY = "too_many"
    # size, limit.
    TOO_LARGE = "too_large"
    # missing.
    MISSING = "missing"
    # version, limit: of the format, and the newest that is read.
    NEWER = "newer"
    # where, turn.
    REPEATED_TURN = "repeated_turn"
    UNKNOWN_PARENT = "unknown_parent"
    # turn.
    UNKNOWN_HEAD = "unknown_head"
    # where.
    ROWS = "rows"
    # No figures, or limit.
    FILE_GONE = "file_gone"
    INTERRUPTED = "interrupted"
    NOT_WRITTEN = "not_written"
    BROKEN = "broken"


class ShareProblem(StrEnum):
    """Why a conversation cannot be shared as it is. The comments name the figures."""

    # No figures.
    EMPTY = "empty"
    TEMPORARY = "temporary"
    CHANGED = "changed"
    SWITCHED_OFF = "switched_off"
    # size, limit.
    TOO_LARGE = "too_large"


class SharedFailure(StrEnum):
    """Why a run failed, as far as anybody with a link may know: no figures, names or words of a provider."""

    BROKEN = "broken"
    PROVIDER_DOWN = "provider_down"
    QUOTA = "quota"
    REFUSED = "refused"
    NOT_REACHED = "not_reached"
    UNREADABLE = "unreadable"
    IN_ANSWER = "in_answer"
    NOT_SENT = "not_sent"
    LIMIT = "limit"


class DocumentProblem(StrEnum):
    """Why a document or a web page does not become text. The comments name the figures."""

    # No figures.
    NO_WEB_ADDRESS = "no_web_address"
    WITH_LOGIN = "with_login"
    UNREADABLE = "unreadable"
    NO_TEXT = "no_text"
    NO_DOCUMENT = "no_document"
    BROKEN_DOCUMENT = "broken_document"
    TOO_COMPLEX = "too_complex"
    BUSY = "busy"
    # host.
    UNKNOWN_HOST = "unknown_host"
    PRIVATE_ADDRESS = "private_address"
    UNREACHABLE = "unreachable"
    # limit.
    BAD_ADDRESS = "bad_address"
    # seconds | limit | status | mime.
    TOO_SLOW = "too_slow"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    PAGE_TOO_LARGE = "page_too_large"
    TEXT_TOO_LARGE = "text_too_large"
    ARCHIVE_TOO_LARGE = "archive_too_large"
    BAD_STATUS = "bad_status"
    WRONG_TYPE = "wrong_type"


class CaptureFault(StrEnum):
    """Why a request of another program is not relayed, or not to its end. The comments name the figures."""

    # No figures.
    UNKNOWN_ADDRESS = "unknown_address"
    REVOKED = "revoked"
    EXPIRED = "expired"
    SWITCHED_OFF = "switched_off"
    FROM_ELSEWHERE = "from_elsewhere"
    FROM_BROWSER = "from_browser"
    WRONG_HOST = "wrong_host"
    WRONG_PATH = "wrong_path"
    WRONG_METHOD = "wrong_method"
    CONTROL_CHARACTER = "control_character"
    LIVE = "live"
    UNCHECKED = "unchecked"
    TOO_MANY = "too_many"
    CLIENT_LEFT = "client_left"
    NOT_REACHED = "not_reached"
    NOT_ANSWERED = "not_answered"
    NO_ANSWER = "no_answer"
    BROKEN_OFF = "broken_off"
    STOPPED = "stopped"
    NOT_IN_FILE = "not_in_file"
    NO_SERVER_KEY = "no_server_key"
    NO_ALLOWANCE = "no_allowance"
    OVER_BUDGET = "over_budget"
    BUDGET_HELD = "budget_held"
    NOT_BOOKED = "not_booked"
    NOT_READ = "not_read"
    BUDGET_UNCHECKED = "budget_unchecked"
    NOT_WITH_SERVER_KEY = "not_with_server_key"
    # limit (bytes).
    REQUEST_TOO_LARGE = "request_too_large"
    ANSWER_TOO_LARGE = "answer_too_large"


class RegroupProblem(StrEnum):
    """Why captured sessions are not joined or split. The comments name the figures."""

    # No figures.
    NOT_CAPTURED = "not_captured"
    SAME_SESSION = "same_session"
    OTHER_ADDRESS = "other_address"
    UNDER_WAY = "under_way"
    NOTHING_BEFORE = "nothing_before"
    PURGED = "purged"
    # count, limit.
    TOO_MANY = "too_many"


class HarProblem(StrEnum):
    """Why an HTTP archive is not imported. The comments name the figures."""

    # problem.
    NOT_JSON = "not_json"
    # where, problem.
    WRONG = "wrong"
    # where.
    BASE64 = "base64"
    # limit (megabytes).
    TOO_LARGE = "too_large"
    # requests, limit.
    TOO_MANY = "too_many"
    # entries.
    NOTHING = "nothing"
    # at (ISO 8601), requests.
    KNOWN = "known"
    # No figures.
    UNDER_WAY = "under_way"


class BodyRefusal(StrEnum):
    """Why the body of a request is not read, or not to its end."""

    # limit: in bytes.
    TOO_LARGE = "too_large"
    TOO_SLOW = "too_slow"
    TOO_MANY = "too_many"
    SIGNED_OUT = "signed_out"
    FORGED = "forged"
