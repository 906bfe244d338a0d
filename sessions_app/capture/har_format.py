"""What is read of an HTTP archive (HAR 1.2): the members that an import needs, and no others."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sessions_app.values import YEARS


def _known(value: Any) -> Any:
    """Times are −1, null or absent where they are not known."""
    return None if isinstance(value, int | float) and value < 0 else value


def _size(value: Any) -> Any:
    """0 where it is not known."""
    return value if isinstance(value, int) and value > 0 else 0


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else ""


def _in_range(value: datetime) -> datetime:
    if value.year not in YEARS:
        raise PydanticCustomError("moment", "Input should be a time between 1970 and 2200")
    return value


Moment = Annotated[AwareDatetime, AfterValidator(_in_range)]
Milliseconds = Annotated[float | None, BeforeValidator(_known)]
Size = Annotated[int, BeforeValidator(_size)]
Text = Annotated[str, BeforeValidator(_text)]


class HarObject(BaseModel):
    """A member that is null counts as absent."""

    model_config = ConfigDict(
        extra="ignore", alias_generator=to_camel, allow_inf_nan=False, coerce_numbers_to_str=True
    )

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: member for name, member in value.items() if member is not None}


class HarHeader(HarObject):
    name: str
    value: str = ""


class HarText(HarObject):
    """A body. `encoding` is empty, or “base64” in small letters or capitals. `text` is None where the body is
    not in the file, and empty as well where `file` names one beside it, or `size` says that there was more.
    """

    text: str | None = None
    encoding: str = ""
    size: Size = 0
    file: Annotated[Text, Field(alias="_file")] = ""


class HarRequest(HarObject):
    method: Annotated[str, Field(max_length=40)]
    url: str
    headers: list[HarHeader] = []
    post_data: HarText | None = None
    body_size: Size = 0


class HarResponse(HarObject):
    """`status` is 0, or less, where no response came. `failure_text` (Playwright) and `error` (Chromium) tell
    how it broke off. `packets` are pairs of milliseconds and bytes, our own member.
    """

    status: Annotated[int, Field(le=999)] = 0
    headers: list[HarHeader] = []
    content: HarText = HarText()
    failure_text: Annotated[Text, Field(alias="_failureText")] = ""
    error: Annotated[Text, Field(alias="_error")] = ""
    packets: Annotated[list[tuple[float, int]], Field(alias="_packets")] = []


class HarTimings(HarObject):
    """`receive` is the time from the first byte of the answer to the last."""

    receive: Milliseconds = None


class HarEntry(HarObject):
    started_date_time: Moment
    time: Milliseconds = None
    request: HarRequest
    response: HarResponse = HarResponse()
    timings: HarTimings = HarTimings()


class HarAddress(HarObject):
    url: str


class HarAddressed(HarObject):
    """What is read of every entry: most are not the API's, and need not be whole."""

    request: HarAddress


class HarLog(HarObject):
    """Each of `entries` is a `HarAddressed`, the API's are `HarEntry`."""

    entries: list[Any]


class HarArchive(HarObject):
    log: HarLog
