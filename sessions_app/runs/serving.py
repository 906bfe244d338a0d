"""Which model served, and at whose price: the answer says it, not the name that was asked for."""

from datetime import date

from sessions_app.context.model_lookup import facts_of, price_to_charge
from sessions_app.gemini.model_capabilities import base_of
from sessions_app.models import Price, SearchPrice
from sessions_app.prompt.routes import family_of


def serving_model(model: str, reported: str, day: date) -> str:
    """The model that the answer reported; where it named none, the one that `model` led to that day."""
    return base_of(reported) or facts_of(model, day=day).family


def price_of_served(model: str, reported: str, day: date) -> Price | None:
    """The price of the model that served; of the one behind it where that is only a name."""
    served = reported or serving_model(model, "", day)
    return price_to_charge(served, day, facts_of(served, day=day).family)


def search_price_of_served(model: str, reported: str, day: date) -> SearchPrice | None:
    """The price of a search by the same model: one query."""
    served = reported or serving_model(model, "", day)
    return SearchPrice.objects.of(served, day, family=facts_of(served, day=day).family)


def model_of_cache(model: str, route: str, day: date) -> str:
    """The model that serves what names a cache of `model`, as its route says."""
    return serving_model(model, family_of(route), day)
