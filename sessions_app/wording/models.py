"""What a model is good for, what it costs and what becomes of it, in the lists to choose from."""

from datetime import date

from sessions_app.catalogue.entries import Thinking
from sessions_app.prompt.model_uses import PriceClass
from sessions_app.prompt.pricing import Rates, format_rate
from sessions_app.wording.model_notices import day

PRICE_CLASSES: dict[PriceClass, str] = {
    PriceClass.LOWEST: "The cheapest here",
    PriceClass.LOW: "Cheap",
    PriceClass.MIDDLE: "Mid-priced",
    PriceClass.HIGH: "Expensive",
    PriceClass.HIGHEST: "The most expensive here",
    PriceClass.UNKNOWN: "Price unknown",
}

THINKING: dict[Thinking, str] = {
    "level": "you choose how hard it thinks",
    "budget": "decides by itself how long to think",
    "none": "answers without thinking first",
}

USE = "{price}, {thinking}"

PRICE = "${input} in · ${output} out"

FUTURES = {
    "ends": "Ends on {on}, then {served_by} answers",
    "ends_alone": "Ends on {on}",
    "ended": "Ended on {on}, {served_by} answers",
    "ended_alone": "Ended on {on}",
    "routed": "{served_by} answers",
}

CHOSEN = {
    "next": "{model} answers from your next message on.",
    "after_this": "{model} answers from your next message on. The answer in progress stays with the other.",
    "same": "{model} answers.",
}


def use(price: PriceClass, thinking: Thinking) -> str:
    return USE.format(price=PRICE_CLASSES[price], thinking=THINKING[thinking])


def price(rates: Rates) -> str:
    return PRICE.format(input=format_rate(rates.input), output=format_rate(rates.output))


def future(case: str, on: date, served_by: str) -> str:
    """`case` is "ends", "ended" or "routed"; `served_by` is the title of the model that answers then."""
    key = case if served_by else f"{case}_alone"
    return FUTURES[key].format(on=day(on), served_by=served_by)


def chosen(case: str, model: str) -> str:
    return CHOSEN[case].format(model=model)
