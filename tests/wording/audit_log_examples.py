"""Sentences of the audit log, of sign-ins that are refused, and of MCP servers."""

from collections.abc import Iterator

from sessions_app.log_codes import LoggedAction, RefusedReading
from sessions_app.mcp_codes import Decision, ListingLoss, SchemaLoss, ServerProblem
from sessions_app.wording import audit_log, mcp, sign_ins

MCP_FIGURES = {"command": "/bin/x", "seconds": 3, "message": "no", "limit": 64}


def mcp_sentences() -> Iterator[str]:
    for problem in ServerProblem:
        yield from mcp.problem_texts(problem, MCP_FIGURES)
    yield from (mcp.schema_loss(loss, "city") for loss in SchemaLoss)
    yield from (mcp.listing_loss(loss, 3) for loss in ListingLoss)
    for decision in Decision:
        yield from (mcp.DECISIONS[decision], *(mcp.refused_call(decision) or ()))


def audit_log_sentences() -> Iterator[str]:
    yield from map(audit_log.title, LoggedAction)
    yield from (audit_log.refusal(reason, {"shortest": 10}) for reason in RefusedReading)
    yield from (audit_log.actor("", key, "erased") for key in (None, 3))
    yield audit_log.actor("", None, LoggedAction.SIGN_IN_FAILED)
    changes = {"is_staff": [False, True], "groups": [[], ["team"]], "sockets": [None, 3]}
    for name in audit_log.DETAILS:
        yield audit_log.details({name: changes if name == "changes" else 3})
    yield from map(sign_ins.throttled, (0.5, 299.0))
    for step in sign_ins.SignInStep:
        yield from map(str, sign_ins.step_words(step))
    yield from map(sign_ins.notice, sign_ins.NOTICES)
