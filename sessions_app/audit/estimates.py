"""Whether what an answer cost is an estimate, by the provider's counts of it."""

from collections.abc import Iterator
from typing import Any

from sessions_app.audit.answers import is_count

STANDARD = {
    "serviceTier": {"", "standard", "service_tier_unspecified"},
    "trafficType": {"", "on_demand", "traffic_type_unspecified", "0", "1"},
}
"""The values for the service whose prices are known."""

TEXT = {"text", "modality_unspecified", "0", "1"}

DETAILS = (
    "promptTokensDetails",
    "cacheTokensDetails",
    "toolUsePromptTokensDetails",
    "candidatesTokensDetails",
)
"""The lists that the provider documents (google-genai, `GenerateContentResponseUsageMetadata`)."""


def is_estimate(usage: dict[str, Any]) -> bool:
    """The provider did not count the prompt, served it by another service, or counted what is no text."""
    if not is_count(usage.get("promptTokenCount")):
        return True
    is_standard = all(str(usage.get(name) or "").lower() in known for name, known in STANDARD.items())
    return not is_standard or not set(_modalities(usage)) <= TEXT


def _modalities(usage: dict[str, Any]) -> Iterator[str]:
    """Those with tokens."""
    for details in map(usage.get, DETAILS):
        for one in details if isinstance(details, list) else ():
            if isinstance(one, dict) and is_count(one.get("tokenCount")) and one["tokenCount"]:
                yield str(one.get("modality") or "").lower() or "text"
