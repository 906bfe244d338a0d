"""The parts of a route: an endpoint and a model family (`gemini.routes` makes routes)."""

import re

_HASHED = re.compile("[0-9a-f]{16}")


def endpoint_of(route: str) -> str:
    """The endpoint of a route (`route_of`)."""
    return route.partition("/")[0]


def family_of(route: str) -> str:
    """The model family of a route; empty where it is hashed or missing."""
    family = route.partition("/")[2]
    return "" if _HASHED.fullmatch(family) else family
