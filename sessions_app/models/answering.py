"""Who answered an exchange: the host, and the model where it is not the one that was asked for."""

from sessions_app.catalogue import base_of
from sessions_app.hosts import answering_host
from sessions_app.models.exchange import Exchange


def host(exchange: Exchange) -> str:
    """As far as it is known."""
    return answering_host(exchange.base_url, exchange.provider)


def other_model(exchange: Exchange) -> str:
    """The model that answered; empty where it is the one that was asked for, or none was named."""
    return other_name(exchange.model, exchange.served_model)


def other_name(asked: str, served: str) -> str:
    """`served`, unless it is the name that was asked for, with or without a revision."""
    return served if served and base_of(served) != base_of(asked) else ""
