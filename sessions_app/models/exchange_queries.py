"""The beginning of an exchange."""

from typing import TYPE_CHECKING, Any

from django.db import models, transaction

from sessions_app.models.exchange_numbers import take_number
from sessions_app.models.instances import new
from sessions_app.models.prepared import insert
from sessions_app.models.source import layer_tokens, manifest_of
from sessions_app.models.stored_sources import store_sources
from sessions_app.prompt.payload import Payload

if TYPE_CHECKING:
    from sessions_app.models.exchange import Exchange
    from sessions_app.models.run import Run


class ExchangeQuerySet(models.QuerySet["Exchange"]):
    @transaction.atomic(savepoint=False)
    def begin(self, run: "Run", step: int, payload: Payload, **facts: Any) -> "Exchange":
        """Creates the row before the call, so that it exists after a crash, with the run held (`Run.hold`).

        Only the session's one active run numbers exchanges, so the count needs no lock. Raises RunEnded.
        """
        session = run.session
        number = take_number(run)
        keys = store_sources(session, payload.items)
        exchange = new(
            self.model,
            session=session,
            run=run,
            number=number,
            step=step,
            model=payload.model,
            manifest=manifest_of(keys, payload),
            request_sha256=payload.sha256,
            request_size=len(payload.body),
            layer_tokens=layer_tokens(payload.items),
            **facts,
        )
        return insert(exchange)
