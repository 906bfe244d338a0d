"""Answers in several hops: the commands that pause an answer, and the tokens that let it go on."""

from dataclasses import replace

from sessions_app.emulator.api_errors import invalid
from sessions_app.emulator.decisions import Rule
from sessions_app.emulator.sample_content import LONG_THOUGHTS
from sessions_app.emulator.scripted_reply import ScenarioContext, ScriptedReply
from sessions_app.emulator.usage import estimate_tokens

_TOKEN = b"continue after "


def continuation_token(sent: int) -> bytes:
    return _TOKEN + str(sent).encode()


def characters_sent(token: bytes | None) -> int | None:
    """Characters sent by earlier responses, None for a request without a token.

    Raises ApiError (400) for a token of somebody else.
    """
    if not token:
        return None
    sent = token.removeprefix(_TOKEN)
    if sent == token or not sent.isdigit() or len(sent) > 9:
        raise invalid("Invalid continuation token.", rule=Rule.CONTINUATION_UNKNOWN)
    return int(sent)


def pause_text(context: ScenarioContext, reply: ScriptedReply, hops: str) -> ScriptedReply:
    """An equal share of the text with a token; with the last token, the rest. Thoughts come first."""
    share = -(-len(reply.text) // max(int(hops or 2), 1))
    end = (context.resumed_at or 0) + share
    rest = _resumed(context, reply)
    if end >= len(reply.text):
        return rest
    return _paused(replace(rest, text=reply.text[end - share : end]), end)


def pause_thoughts(context: ScenarioContext, reply: ScriptedReply, _: str) -> ScriptedReply:
    """Nothing but thoughts with a token; with the token, all else."""
    if context.resumed_at is not None:
        return _resumed(context, reply)
    return _paused(ScriptedReply(thoughts=reply.thoughts or LONG_THOUGHTS), 0)


def _resumed(context: ScenarioContext, reply: ScriptedReply) -> ScriptedReply:
    """What the response before has not sent; its thoughts count, but do not come again."""
    if context.resumed_at is None:
        return reply
    unseen = reply.unseen_thoughts + sum(map(estimate_tokens, reply.thoughts))
    return replace(reply, text=reply.text[context.resumed_at :], thoughts=(), unseen_thoughts=unseen)


def _paused(reply: ScriptedReply, sent: int) -> ScriptedReply:
    return replace(
        reply, finish="CONTINUATION", token=continuation_token(sent), signed=False, has_parts=bool(reply.text)
    )
