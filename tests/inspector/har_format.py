"""HTTP Archive 1.2 as models, after its specification: every key that it asks for, and none that it lacks.

Names of an application's own begin with an underscore.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

MOMENT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"

Size = Annotated[int, Field(ge=-1)]
Duration = Annotated[float, Field(ge=0)]
Optional = Annotated[float, Field(ge=-1)]


class HarObject(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)

    comment: str = ""

    @model_validator(mode="before")
    @classmethod
    def without_own_names(cls, value: dict[str, Any]) -> dict[str, Any]:
        return {key: item for key, item in value.items() if not key.startswith("_")}


class Pair(HarObject):
    name: str
    value: str


class PostData(HarObject):
    mime_type: str
    text: str
    params: list[Pair] = []


class HarRequest(HarObject):
    method: str
    url: Annotated[str, Field(pattern=r"^https?://[^/]+/")]
    http_version: str
    cookies: list[Pair]
    headers: list[Pair]
    query_string: list[Pair]
    post_data: PostData | None = None
    headers_size: Size
    body_size: Size


class HarContent(HarObject):
    size: Annotated[int, Field(ge=0)]
    mime_type: str
    text: str = ""
    encoding: Literal["base64"] | None = None
    compression: int | None = None


class HarResponse(HarObject):
    status: Annotated[int, Field(ge=0, lt=600)]
    status_text: str
    http_version: str
    cookies: list[Pair]
    headers: list[Pair]
    content: HarContent
    redirect_url: Annotated[str, Field(alias="redirectURL")]
    headers_size: Size
    body_size: Size


class Timings(HarObject):
    send: Duration
    wait: Duration
    receive: Duration
    blocked: Optional = -1
    dns: Optional = -1
    connect: Optional = -1
    ssl: Optional = -1

    @property
    def total(self) -> float:
        parts = (self.send, self.wait, self.receive, self.blocked, self.dns, self.connect)
        return sum(one for one in parts if one > 0)


class Entry(HarObject):
    started_date_time: Annotated[str, Field(pattern=MOMENT)]
    time: Duration
    request: HarRequest
    response: HarResponse
    cache: dict[str, Any]
    timings: Timings
    pageref: str = ""
    server_address: Annotated[str, Field(alias="serverIPAddress")] = ""
    connection: str = ""

    @model_validator(mode="after")
    def times_add_up(self) -> "Entry":
        assert abs(self.time - self.timings.total) < 0.001
        return self


class Program(HarObject):
    name: str
    version: str


class Log(HarObject):
    version: Literal["1.2"]
    creator: Program
    browser: Program | None = None
    pages: list[Any] = []
    entries: list[Entry]


class Archive(HarObject):
    log: Log
