"""Code samples that send a stored request again: curl, Python, google-genai and JavaScript.

They read the key and the base URL from `GEMINI_API_KEY` and `GOOGLE_GEMINI_BASE_URL`.
"""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pprint import pformat
from typing import Any

from sessions_app.models import Exchange

GOOGLE = "https://generativelanguage.googleapis.com"
"""The default base URL, whichever endpoint answered this exchange."""

MAX_ARGUMENT = 100_000
"""Bytes of a body passed to curl as an argument; Linux allows 128 KiB (MAX_ARG_STRLEN)."""


@dataclass(frozen=True, slots=True)
class CodeSample:
    """`write` makes the text of the sample from the body; `file` is the suffix of its file name."""

    id: str
    title: str
    file: str
    write: Callable[[Exchange, bytes], str]


def code_samples_of(exchange: Exchange) -> list[CodeSample]:
    """All of them, but without the SDK for a chat completion, which google-genai cannot send."""
    known = [
        CodeSample("curl", "curl", "sh", curl),
        CodeSample("python", "Python", "py", python),
        CodeSample("sdk", "Python, google-genai", "sdk.py", sdk),
        CodeSample("javascript", "JavaScript", "mjs", javascript),
    ]
    return [one for one in known if one.id != "sdk" or not exchange.is_translated]


def path_of(exchange: Exchange) -> str:
    if exchange.is_translated:
        return "/v1beta/openai/chat/completions"
    return f"/v1beta/models/{exchange.model}:streamGenerateContent?alt=sse"


def key_header(exchange: Exchange) -> tuple[str, str]:
    """The header's name and the prefix of its value."""
    return ("Authorization", "Bearer ") if exchange.is_translated else ("x-goog-api-key", "")


def request_name(exchange: Exchange) -> str:
    return f"exchange-{exchange.number}-request.json"


def curl(exchange: Exchange, body: bytes) -> str:
    """With the body as an argument, or read from the downloaded file when it is too long for one."""
    name, before = key_header(exchange)
    data = f"@{request_name(exchange)}"
    option = "--data-binary" if len(body) > MAX_ARGUMENT else "--data-raw"
    given = shlex.quote(data if len(body) > MAX_ARGUMENT else body.decode("utf-8", "replace"))
    return (
        f'curl -sSN -X POST "${{GOOGLE_GEMINI_BASE_URL:-{GOOGLE}}}"{shlex.quote(path_of(exchange))} \\\n'
        f'  -H "{name}: {before}$GEMINI_API_KEY" \\\n'
        "  -H 'Content-Type: application/json' \\\n"
        f"  {option} {given}\n"
    )


PYTHON = """\
import os
import urllib.request

BODY = {body!r}

request = urllib.request.Request(
    os.environ.get("GOOGLE_GEMINI_BASE_URL", {google!r}) + {path!r},
    data=BODY.encode(),
    headers={{{name!r}: {before!r} + os.environ["GEMINI_API_KEY"], "Content-Type": "application/json"}},
)
with urllib.request.urlopen(request) as response:
    for line in response:
        print(line.decode(), end="")
"""


def python(exchange: Exchange, body: bytes) -> str:
    """Standard library only."""
    name, before = key_header(exchange)
    text = body.decode("utf-8", "replace")
    return PYTHON.format(body=text, google=GOOGLE, path=path_of(exchange), name=name, before=before)


SDK = """\
import os

from google import genai
from google.genai import types

CONTENTS = {contents}

CONFIG = {config}

client = genai.Client(
    api_key=os.environ["GEMINI_API_KEY"],
    http_options=types.HttpOptions(
        api_version="v1beta", base_url=os.environ.get("GOOGLE_GEMINI_BASE_URL")
    ),
)
for chunk in client.models.generate_content_stream(
    model={model!r},
    contents=[types.Content.model_validate(content) for content in CONTENTS],
    config=types.GenerateContentConfig.model_validate(CONFIG),
):
    print(chunk.text or "", end="", flush=True)
print()
"""


def sdk(exchange: Exchange, body: bytes) -> str:
    """Contents and config as Python values; the SDK serialises them itself, so the bytes differ."""
    request = json.loads(body)
    contents = request.pop("contents", [])
    config: dict[str, Any] = {**request.pop("generationConfig", {}), **request}
    return SDK.format(
        contents=pformat(contents, width=100, sort_dicts=False),
        config=pformat(config, width=100, sort_dicts=False),
        model=exchange.model,
    )


JAVASCRIPT = """\
const body = {body};

const base = process.env.GOOGLE_GEMINI_BASE_URL ?? {google};
const response = await fetch(base + {path}, {{
  method: "POST",
  headers: {{ {name}: {before} + process.env.GEMINI_API_KEY, "Content-Type": "application/json" }},
  body,
}});
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {{
  process.stdout.write(piece);
}}
if (!response.ok) process.exitCode = 1;
"""


def javascript(exchange: Exchange, body: bytes) -> str:
    """An ES module for Node 18 and later."""
    values = {"body": body.decode("utf-8", "replace"), "google": GOOGLE, "path": path_of(exchange)}
    values["name"], values["before"] = key_header(exchange)
    return JAVASCRIPT.format(**{key: json.dumps(value, ensure_ascii=False) for key, value in values.items()})
