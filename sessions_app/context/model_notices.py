"""What a person should know of a model today, from its dated rows."""

from datetime import date

from sessions_app import catalogue
from sessions_app.context.model_lookup import coming_price, facts_of, lifecycle_of, price_now
from sessions_app.gemini.model_capabilities import base_of
from sessions_app.prompt.model_notices import ModelNotice, NoticeCode, lifecycle_notices, price_notice


def notices_of(model: str, day: date | None = None) -> tuple[ModelNotice, ...]:
    """Notices of a model as it is chosen on `day`, by default today; none of a retired model's price."""
    day, name = day or catalogue.today(), base_of(model)
    found = [*lifecycle_notices(name, lifecycle_of(name), day)]
    is_over = any(notice.code is NoticeCode.RETIRED for notice in found)
    changed = None if is_over else _price_change(name, day)
    return (*found, changed) if changed else tuple(found)


def _price_change(name: str, day: date) -> ModelNotice | None:
    """The next change of the price of the model that answers to the name."""
    serving = facts_of(name, day=day).family
    coming = coming_price(serving, day)
    if coming is None:
        return None
    now = price_now(serving, day)
    return price_notice(name, now.rates(0) if now else None, coming.rates(0), coming.valid_from, day)
