"""What ends or changes of a model, and when."""

from datetime import date

from sessions_app.prompt.model_notices import ModelNotice, NoticeCode
from sessions_app.prompt.pricing import Rates, format_rate

SENTENCES: dict[str, str] = {
    NoticeCode.RETIRED: "{model} was retired on {on}; {instead}.",
    NoticeCode.RETIRES: "{model} retires on {on}; {instead}.",
    NoticeCode.ROUTED: "{model} is a name: {served_by} answers.",
    NoticeCode.REROUTES: "From {on} on {served_by} answers to the name {model}.",
    NoticeCode.PRICE_CHANGES: "From {on} on {model} costs {then}; now {now}.",
}

LABELS: dict[str, str] = {
    NoticeCode.RETIRED: "retired {on}; {successor}",
    NoticeCode.RETIRES: "retires {on}; {successor}",
    NoticeCode.ROUTED: "{served_by} answers",
    NoticeCode.REROUTES: "{served_by} answers from {on} on",
    NoticeCode.PRICE_CHANGES: "price changes {on}",
}
"""In the list of models."""

SUCCESSORS = {"known": "successor {successor}", "none": "no successor is known"}

INSTEAD = {
    "routed": "successor {successor}, to which requests for it are routed, at its prices",
    "elsewhere": "successor {successor}; requests for it are routed to {served_by}, at its prices",
    "answered": "requests for it are routed to {served_by}, at its prices",
    "successor": "successor {successor}",
    "none": SUCCESSORS["none"],
}

RATES = {
    "known": "${input} for a million tokens in and ${output} out",
    "unknown": "an unknown price",
}


def sentence(notice: ModelNotice) -> str:
    return SENTENCES[notice.code].format(
        model=notice.model,
        on=day(notice.on),
        served_by=notice.served_by,
        instead=_instead(notice),
        now=_rates(notice.now),
        then=_rates(notice.then),
    )


def label(notice: ModelNotice) -> str:
    successor = SUCCESSORS["known" if notice.way_on else "none"].format(successor=notice.way_on)
    return LABELS[notice.code].format(on=day(notice.on), served_by=notice.served_by, successor=successor)


def day(value: date) -> str:
    """`1 December 2026`."""
    return f"{value.day} {value:%B %Y}"


def _instead(notice: ModelNotice) -> str:
    served, successor = notice.served_by, notice.successor
    if served and successor:
        key = "routed" if served == successor else "elsewhere"
    else:
        key = "answered" if served else "successor" if successor else "none"
    return INSTEAD[key].format(served_by=served, successor=successor)


def _rates(rates: Rates | None) -> str:
    if rates is None:
        return RATES["unknown"]
    return RATES["known"].format(input=format_rate(rates.input), output=format_rate(rates.output))
