"""Routes: where signatures and caches are valid.

A route is an endpoint (base URL and key, hashed) and the model family that serves: "3f…/gemini-3-flash".
"""

from hashlib import sha256

from sessions_app.gemini.model_capabilities import base_of
from sessions_app.prompt.routes import endpoint_of

ROUTE_LENGTH = 64
"""Characters of the column that holds a route."""


def route_of(base_url: str, api_key: str) -> str:
    """16 hex digits; equal for equal base URL and key, and no way back to the key."""
    key_hash = sha256(api_key.encode()).hexdigest()
    return sha256(f"{base_url}\n{key_hash}".encode()).hexdigest()[:16]


def route_to(endpoint: str, family: str) -> str:
    """The route of an endpoint (`route_of`) and a model family; a long family is hashed to fit the column."""
    route = f"{endpoint}/{family}"
    return route if len(route) <= ROUTE_LENGTH else f"{endpoint}/{sha256(family.encode()).hexdigest()[:16]}"


def route_from(route: str, served: str) -> str:
    """The route of an answer to a request over `route`: the same endpoint, the model that answered."""
    return route_to(endpoint_of(route), base_of(served)) if served else route
