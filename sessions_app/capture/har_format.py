"""What is read of an HTTP archive (HAR 1.2): the members that an import needs, and no others."""

from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel


def _known(value: Any) -> Any:
    """Times are −1, null or absent where they are not known."""
    return None if isinstance(value, int | float) and value < 0 else value


Milliseconds = Annotated[float | None, BeforeValidator(_known)]


class HarObject(BaseModel):
    model_config = ConfigDict(extra="ignore", alias_generator=to_camel, allow_inf_nan=False)


class HarHeader(HarObject):
    name: str
    value: str = ""


class HarText(HarObject):
    """A body. `encoding` is empty or “base64”; `text` is None where the body is not in the file."""

    text: str | None = None
    encoding: str = ""


class HarRequest(HarObject):
    method: Annotated[str, Field(max_length=40)]
    url: str
    headers: list[HarHeader] = []
    post_data: HarText | None = None


class HarResponse(HarObject):
    """`status` is 0 where no response came. `packets` are pairs of milliseconds and bytes, our own member."""

    status: int
    headers: list[HarHeader] = []
    content: HarText = HarText()
    packets: Annotated[list[tuple[float, int]], Field(alias="_packets")] = []


class HarTimings(HarObject):
    """`receive` is the time from the first byte of the answer to the last."""

    receive: Milliseconds = None


class HarEntry(HarObject):
    started_date_time: AwareDatetime
    time: Milliseconds = None
    request: HarRequest
    response: HarResponse
    timings: HarTimings = HarTimings()


class HarLog(HarObject):
    entries: list[HarEntry]


class HarArchive(HarObject):
    log: HarLog
