"""Routes: whose signatures and caches these are.

The door is the gateway's `route` (base URL and key), behind it stands the model that serves.
"""

from hashlib import sha256

from sessions_app.gemini.capabilities import base_of

ROUTE_LENGTH = 64
"""Characters of the column that holds a route."""


def route_to(door: str, family: str) -> str:
    """Whose signatures and caches these are: the door (base URL and key) and the model that serves."""
    route = f"{door}/{family}"
    return route if len(route) <= ROUTE_LENGTH else f"{door}/{sha256(family.encode()).hexdigest()[:16]}"


def route_from(route: str, served: str) -> str:
    """The route of an answer to a request over `route`: the same door, the model that really answered."""
    return route_to(route.partition("/")[0], base_of(served)) if served else route
