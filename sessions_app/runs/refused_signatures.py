"""What is remembered of a provider that refuses the thought signatures of a history."""

from sessions_app.errors import GatewayError, SignatureMissing, SignatureRefused
from sessions_app.models import Turn
from sessions_app.prompt.signatures import signed_turns, unsigned_steps
from sessions_app.runs.request import PreparedRequest


def remember_refusal(prepared: PreparedRequest, error: GatewayError) -> bool:
    """Marks the turns whose signatures were refused, so that no later request carries them.

    Returns whether the request would be another one now. The provider does not say which signature it
    refuses, so all that were sent count.
    """
    turns, exchange = prepared.layers.turns, prepared.exchange
    if isinstance(error, SignatureRefused):
        keys = signed_turns(turns)
    elif isinstance(error, SignatureMissing):
        keys = unsigned_steps(turns)
    else:
        return False
    return Turn.objects.mark_refused(exchange.session_id, keys, exchange.number)
