"""The models Pipeweb knows: what each can do, what it costs and what becomes of it, in one table.

Capabilities are from gemini-wire §7 and §8 (live probes and documentation up to November 2026). Prices
are from Google's price page as transcribed on 2026-10-07 to 2026-10-13, and litellm 1.109.1's price
file, unless a row names another source. CONTRIBUTING.md says how to add a model. This package imports
nothing else of the project.
"""

import re
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

from sessions_app.catalogue.entries import (
    CatalogueModel,
    LifecycleChange,
    ModelTraits,
    PublishedSearchPrice,
    build_catalogue,
    price,
)

GENERATION_4 = ModelTraits(
    explicit_minimum=None,
    implicit_minimum=4_096,
    thinking="level",
    levels=("LOW", "MEDIUM", "HIGH"),
    signatures_required=True,
    input_limit=1_048_576,
    output_limit=65_536,
    sampling=False,
    own_tools=("google_search", "url_context", "code_execution"),
    mixes_tools=True,
    tools_source=(
        "ai.google.dev/gemini-api/docs/tool-combination: Gemini 3 and later; recorded for 3 Flash with "
        "functions and with a schema; ag2ai/ag2#3145 (2026-08-10): 3.1 Pro, 3.6 Flash, 3.5 Flash-Lite"
    ),
)
FLASH_3 = replace(
    GENERATION_4, explicit_minimum=1_024, levels=("MINIMAL", "LOW", "MEDIUM", "HIGH"), sampling=True
)
# 3.7 and 3.8 Flash refuse MINIMAL: recorded-traffic.md (3.7, September 2026); for both
# BerriAI/litellm-docs#1505 (2026-09-16) and Google's developer guide to Gemini 3.8 Flash.
FLASH_3_7 = replace(FLASH_3, levels=("LOW", "MEDIUM", "HIGH"))
PRO_3 = replace(FLASH_3, levels=("LOW", "MEDIUM", "HIGH"))
# A recording of May 2026 keeps 1,090 tokens on 2.5 Flash, so the explicit minimum is that of 3.
GENERATION_2_5 = replace(
    FLASH_3,
    implicit_minimum=2_048,
    thinking="budget",
    levels=(),
    signatures_required=False,
    mixes_tools=False,
    tools_source=(
        "recorded for 2.5 Flash and 2.5 Pro; refusals of combinations: symfony/ai#803 (2025-10-22), "
        "csells/dartantic#96 (2026-01-31)"
    ),
)
GENERATION_2 = replace(
    GENERATION_2_5,
    explicit_minimum=4_096,
    implicit_minimum=4_096,
    thinking="none",
    output_limit=8_192,
    own_tools=(),
)
UNKNOWN = replace(GENERATION_2, explicit_minimum=None, input_limit=131_072)

FAMILIES = {
    "": UNKNOWN,
    "gemini-": GENERATION_4,
    "gemini-1": GENERATION_2,
    "gemini-2": GENERATION_2,
    "gemini-2.5": GENERATION_2_5,
    "gemini-3": FLASH_3,
}
"""Traits of models that are not listed, by the prefix of their names."""

PAGE = "Google's price page, October 2026"
LISTED = date(2026, 10, 7)
AFTER_2026 = "Google's price page as quoted by pydantic/genai-prices#564; storage: theopenco/llmgateway#3164"
REROUTED = "Google's changelog of 2026-10-08 (ai.google.dev/gemini-api/docs/changelog)"
SHUT_DOWN = "Google's deprecations page as quoted on 2026-11-10 (aideprecations.com)"
SEARCH_3 = (
    PublishedSearchPrice(
        valid_from=LISTED,
        usd=Decimal(14),
        per="query",
        source="litellm 1.109.1 (web_search_billing_unit per_query); 5,000 prompts a month are free",
    ),
)
"""Gemini 3 and later; also Google's page as quoted at discuss.ai.google.dev, 134866: $14 per 1,000."""

SEARCH_2_5 = (
    PublishedSearchPrice(
        valid_from=LISTED,
        usd=Decimal(35),
        per="prompt",
        source="litellm 1.109.1; per prompt: discuss.ai.google.dev, 102927; 1,500 or more a day are free",
    ),
)
RECORDED = "modelVersion of recorded answers; the day is that of the serving model's release"


def _routed_to(name: str, valid_from: date, source: str, *, retired: bool = True) -> LifecycleChange:
    """The provider answers with another model; a name that was one itself is retired by that."""
    successor = name if retired else ""
    return LifecycleChange(
        valid_from=valid_from, source=source, served_by=name, is_retired=retired, successor=successor
    )


CATALOGUE = build_catalogue(
    (
        CatalogueModel(
            "gemini-4-argon",
            "Gemini 4 Argon",
            4.0,
            GENERATION_4,
            search_prices=SEARCH_3,
            prices=(
                price(
                    date(2026, 10, 13),
                    "2.00 0.10 10.00",
                    storage=None,
                    source=f"{PAGE}: promotion until 2026-11-30",
                ),
                price(
                    date(2026, 12, 1),
                    "4.00 0.20 20.00",
                    storage=None,
                    source=f"{PAGE}: after the promotion; cached at the promotion's share of input",
                ),
            ),
        ),
        CatalogueModel(
            "gemini-3.8-flash",
            "Gemini 3.8 Flash",
            3.8,
            FLASH_3_7,
            search_prices=SEARCH_3,
            prices=(
                price(LISTED, "0.75 0.075 3.75", storage="0.50", source=f"{PAGE}: until 2026-12-31"),
                price(date(2027, 1, 1), "1.50 0.15 7.50", storage="1.00", source=f"{PAGE}: from 2027-01-01"),
            ),
        ),
        CatalogueModel(
            "gemini-3.7-flash",
            "Gemini 3.7 Flash",
            3.7,
            FLASH_3_7,
            is_emulated=False,
            lifecycle=(_routed_to("gemini-3.8-flash", date(2026, 10, 8), REROUTED),),
        ),
        CatalogueModel(
            "gemini-3.6-flash",
            "Gemini 3.6 Flash",
            3.6,
            FLASH_3,
            search_prices=SEARCH_3,
            prices=(
                price(LISTED, "0.75 0.075 3.75", storage=None, source=f"{PAGE}: until 2026-12-31"),
                price(date(2027, 1, 1), "1.50 0.15 7.50", storage="1.00", source=AFTER_2026),
            ),
        ),
        CatalogueModel(
            "gemini-3.5-flash",
            "Gemini 3.5 Flash",
            3.5,
            FLASH_3,
            search_prices=SEARCH_3,
            prices=(
                price(
                    LISTED, "1.50 0.15 9.00", storage=None, source=f"{PAGE}; cached: a tenth, as of its kin"
                ),
            ),
            lifecycle=(_routed_to("gemini-3.6-flash", date(2026, 10, 8), REROUTED),),
        ),
        CatalogueModel(
            "gemini-3.5-flash-lite",
            "Gemini 3.5 Flash-Lite",
            3.5,
            FLASH_3,
            search_prices=SEARCH_3,
            prices=(price(LISTED, "0.30 0.03 2.50", storage=None, source=PAGE),),
        ),
        CatalogueModel(
            "gemini-3.1-flash-lite",
            "Gemini 3.1 Flash-Lite",
            3.1,
            FLASH_3,
            search_prices=SEARCH_3,
            prices=(price(LISTED, "0.25 0.025 1.50", storage=None, source=PAGE),),
        ),
        CatalogueModel(
            "gemini-3.1-pro-preview",
            "Gemini 3.1 Pro Preview",
            3.1,
            PRO_3,
            search_prices=SEARCH_3,
            prices=(
                price(LISTED, "2.00 0.20 12.00", storage="4.50", source=PAGE, long_prompts="4.00 0.40 18.00"),
            ),
        ),
        CatalogueModel(
            "gemini-3-pro-preview",
            "Gemini 3 Pro Preview",
            3.1,
            PRO_3,
            lifecycle=(
                _routed_to(
                    "gemini-3.1-pro-preview",
                    date(2026, 3, 9),
                    "Google's deprecations page: shut down on 2026-03-09; recordings name the successor",
                ),
            ),
        ),
        CatalogueModel(
            "gemini-3-flash-preview",
            "Gemini 3 Flash Preview",
            3.0,
            FLASH_3,
            search_prices=SEARCH_3,
            prices=(price(LISTED, "0.50 0.05 3.00", storage="1.00", source=PAGE),),
        ),
        CatalogueModel(
            "gemini-2.5-pro",
            "Gemini 2.5 Pro",
            2.5,
            GENERATION_2_5,
            search_prices=SEARCH_2_5,
            prices=(
                price(
                    LISTED, "1.25 0.125 10.00", storage="4.50", source=PAGE, long_prompts="2.50 0.25 15.00"
                ),
            ),
            lifecycle=(_routed_to("gemini-3.8-flash", date(2026, 12, 1), SHUT_DOWN),),
        ),
        CatalogueModel(
            "gemini-2.5-flash",
            "Gemini 2.5 Flash",
            2.5,
            GENERATION_2_5,
            search_prices=SEARCH_2_5,
            prices=(price(LISTED, "0.30 0.03 2.50", storage="1.00", source=PAGE),),
            lifecycle=(_routed_to("gemini-3.5-flash-lite", date(2026, 12, 1), SHUT_DOWN),),
        ),
        CatalogueModel(
            "gemini-2.5-flash-lite",
            "Gemini 2.5 Flash-Lite",
            2.5,
            GENERATION_2_5,
            search_prices=SEARCH_2_5,
            prices=(price(LISTED, "0.10 0.01 0.40", storage="1.00", source=PAGE),),
        ),
        CatalogueModel(
            "gemini-flash-latest",
            "Gemini Flash Latest",
            3.6,
            FLASH_3,
            lifecycle=(_routed_to("gemini-3.6-flash", date(2026, 7, 21), RECORDED, retired=False),),
        ),
        CatalogueModel(
            "gemini-flash-lite-latest",
            "Gemini Flash-Lite Latest",
            3.1,
            FLASH_3,
            lifecycle=(_routed_to("gemini-3.1-flash-lite", date(2026, 5, 7), RECORDED, retired=False),),
        ),
    )
)
"""Every listed model by name, newest generation first, aliases last."""


def today() -> date:
    """The day whose facts hold (UTC)."""
    return datetime.now(UTC).date()


_REVISION = re.compile(r"(?<=.)-(\d{3}|preview-\d\d-\d{2,4})$")


def base_of(model: str) -> str:
    """The name without `models/` and revision (`-001`): what an answer's `modelVersion` is compared by."""
    return _REVISION.sub("", model.rpartition("/")[2])


def traits_of(model: str) -> ModelTraits:
    """The traits of a listed model, or of the longest family prefix that `model` begins with."""
    base = base_of(model)
    if base in CATALOGUE:
        return CATALOGUE[base].traits
    return FAMILIES[max((prefix for prefix in FAMILIES if base.startswith(prefix)), key=len)]
