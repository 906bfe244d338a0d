"""Preparing a request: from rows to the bytes of one exchange, in recorded stages."""

from sessions_app.runs.request.context import FirstRequest, RequestContext
from sessions_app.runs.request.endpoint import Endpoint
from sessions_app.runs.request.prepare import PreparedRequest, prepare, prepare_hop

__all__ = ["Endpoint", "FirstRequest", "PreparedRequest", "RequestContext", "prepare", "prepare_hop"]
