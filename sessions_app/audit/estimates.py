"""Whether what an answer cost is an estimate, by the provider's counts of it."""

from collections.abc import Iterator
from typing import Any

STANDARD = {
    "serviceTier": {"", "standard", "service_tier_unspecified"},
    "trafficType": {"", "on_demand", "traffic_type_unspecified", "0", "1"},
}
"""The values for the service whose prices are known."""

TEXT = {"text", "modality_unspecified", "0", "1"}


def is_estimate(usage: dict[str, Any]) -> bool:
    """The provider did not count the prompt, served it by another service, or counted what is no text."""
    if type(usage.get("promptTokenCount")) is not int:
        return True
    is_standard = all(str(usage.get(name) or "").lower() in known for name, known in STANDARD.items())
    return not is_standard or not set(_modalities(usage)) <= TEXT


def _modalities(usage: dict[str, Any]) -> Iterator[str]:
    """Those with tokens."""
    for name, details in usage.items():
        listed = details if name.endswith("Details") and isinstance(details, list) else []
        for one in listed:
            if isinstance(one, dict) and type(one.get("tokenCount")) is int and one["tokenCount"] > 0:
                yield str(one.get("modality") or "").lower() or "text"
