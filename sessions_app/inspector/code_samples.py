"""Code samples that send a stored request again: curl, Python, google-genai and JavaScript.

They read the key from `GEMINI_API_KEY`, and from `GOOGLE_GEMINI_BASE_URL` another address than the one that
answered. A refusal is printed with its body, and the program ends with an error.
"""

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pprint import pformat
from typing import Any
from urllib.parse import quote

from sessions_app.hosts import public_address
from sessions_app.models import Exchange
from sessions_app.models.answering import host
from sessions_app.prompt.parts import PARTS_KEY

MAX_ARGUMENT = 100_000
"""Bytes of a body passed to curl as an argument; Linux allows 128 KiB (MAX_ARG_STRLEN)."""

_HIDDEN = re.compile(r"(?<=[?&])[a-z_]+=…&?")
_OF_VERTEX = re.compile(r"/v1\w*/(?:(projects)|publishers)/")
"""Secrets of a query, as they are stored."""

IN_URL = ":/?#[]@&()*+,;=%"
"""Characters of a base URL that stand for themselves between double quotes of a shell."""


@dataclass(frozen=True, slots=True)
class CodeSample:
    """`write` makes the text of the sample from the body; `file` is the suffix of its file name."""

    id: str
    title: str
    file: str
    write: Callable[[Exchange, bytes], str]


def code_samples_of(exchange: Exchange) -> list[CodeSample]:
    """All of them, but without the SDK where google-genai, used so, would send something else: a chat
    completion, and a request to Vertex AI.
    """
    known = [
        CodeSample("curl", "curl", "sh", curl),
        CodeSample("python", "Python", "py", python),
        CodeSample("sdk", "Python, google-genai", "sdk.py", sdk),
        CodeSample("javascript", "JavaScript", "mjs", javascript),
    ]
    is_other = exchange.is_translated or _OF_VERTEX.match(path_of(exchange)) is not None
    return [one for one in known if one.id != "sdk" or not is_other]


def path_of(exchange: Exchange) -> str:
    if exchange.is_translated:
        return "/v1beta/openai/chat/completions"
    captured = exchange.captured_request
    if captured is not None:
        return _HIDDEN.sub("", captured.path).rstrip("?&")
    return f"/v1beta/models/{exchange.model}:streamGenerateContent?alt=sse"


def request_line(exchange: Exchange) -> str:
    """Method and path, as the first line of the request had them but for secrets."""
    captured = exchange.captured_request
    return f"{captured.method if captured is not None else 'POST'} {path_of(exchange)}"


def key_header(exchange: Exchange) -> tuple[str, str]:
    """The header's name and the prefix of its value; a project of Vertex AI takes an access token."""
    found = _OF_VERTEX.match(path_of(exchange))
    takes_token = exchange.is_translated or (found is not None and bool(found[1]))
    return ("Authorization", "Bearer ") if takes_token else ("x-goog-api-key", "")


def request_name(exchange: Exchange) -> str:
    return f"exchange-{exchange.number}-request.json"


def no_address(exchange: Exchange) -> str:
    """Why there is no default address; empty where there is one."""
    if public_address(exchange.base_url):
        return ""
    return f"GOOGLE_GEMINI_BASE_URL is not set, and this exchange has no address ({host(exchange)})"


def curl(exchange: Exchange, body: bytes) -> str:
    """The call by curl: the body is an argument, or comes through a pipe where it is too long."""
    name, before = key_header(exchange)
    data = shlex.quote(body.decode("utf-8", "replace"))
    is_long = len(body) > MAX_ARGUMENT
    default = no_address(exchange)
    known = f":?{default}" if default else f":-{quote(exchange.base_url, safe=IN_URL)}"
    return (
        (f"printf '%s' {data} |\n" if is_long else "")
        + f'curl -sSN --fail-with-body -X POST "${{GOOGLE_GEMINI_BASE_URL{known}}}"'
        + f"{shlex.quote(path_of(exchange))} \\\n"
        + f'  -H "{name}: {before}$GEMINI_API_KEY" \\\n'
        + "  -H 'Content-Type: application/json' \\\n"
        + ("  --data-binary @-\n" if is_long else f"  --data-raw {data}\n")
    )


SETTINGS = """\
KEY = os.environ.get("GEMINI_API_KEY") or sys.exit("GEMINI_API_KEY is not set")
BASE_URL = os.environ.get("GOOGLE_GEMINI_BASE_URL") or {base}
"""

PYTHON = """\
import os
import sys
import urllib.error
import urllib.request

BODY = {body!r}

{settings}
request = urllib.request.Request(
    BASE_URL + {path!r},
    data=BODY.encode(),
    headers={{{name!r}: {before!r} + KEY, "Content-Type": "application/json"}},
)
try:
    with urllib.request.urlopen(request) as response:
        for line in response:
            print(line.decode(), end="")
except urllib.error.HTTPError as error:
    print(error.code, error.reason)
    print(error.read().decode("utf-8", "replace"))
    sys.exit(1)
except urllib.error.URLError as error:
    sys.exit(f"{{BASE_URL}}: {{error.reason}}")
"""


def python(exchange: Exchange, body: bytes) -> str:
    """Standard library only."""
    name, before = key_header(exchange)
    text = body.decode("utf-8", "replace")
    return PYTHON.format(
        body=text, settings=_settings(exchange), path=path_of(exchange), name=name, before=before
    )


def _settings(exchange: Exchange) -> str:
    missing = no_address(exchange)
    return SETTINGS.format(base=f"sys.exit({missing!r})" if missing else repr(exchange.base_url))


SDK = """\
import json
import os
import sys

from google import genai
from google.genai import errors, types

CONTENTS = {contents}

CONFIG = {config}

{settings}
client = genai.Client(
    api_key=KEY, http_options=types.HttpOptions(api_version="v1beta", base_url=BASE_URL)
)
try:
    for chunk in client.models.generate_content_stream(
        model={model!r},
        contents=[types.Content.model_validate(content) for content in CONTENTS],
        config=types.GenerateContentConfig.model_validate(CONFIG),
    ):
        print(chunk.text or "", end="", flush=True)
except errors.APIError as error:
    print(error.code, error.status)
    print(json.dumps(error.details, indent=1))
    sys.exit(1)
print()
"""


def sdk(exchange: Exchange, body: bytes) -> str:
    """Contents and config as Python values; the SDK serialises them itself, so the bytes differ.

    Its types take lists only where the API takes one value as well, and the model beside the config.
    """
    request = json.loads(body)
    request.pop("model", None)
    contents = [_with_list(content) for content in _listed(request.pop("contents", []))]
    for key in ("systemInstruction", "system_instruction"):
        if key in request:
            request[key] = _with_list(request[key])
    config: dict[str, Any] = {}
    for key in ("generationConfig", "generation_config"):
        # One of another shape stays where it is.
        if isinstance(request.get(key), dict):
            config |= request.pop(key)
    config |= request
    return SDK.format(
        contents=pformat(contents, width=100, sort_dicts=False),
        config=pformat(config, width=100, sort_dicts=False),
        settings=_settings(exchange),
        model=exchange.model,
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _with_list(content: Any) -> Any:
    """A content whose parts are a list."""
    if not isinstance(content, dict) or PARTS_KEY not in content:
        return content
    return content | {PARTS_KEY: _listed(content[PARTS_KEY])}


JAVASCRIPT = """\
const body = {body};

function fail(reason) {{
  console.error(reason);
  process.exit(1);
}}

const key = process.env.GEMINI_API_KEY || fail("GEMINI_API_KEY is not set");
const base = process.env.GOOGLE_GEMINI_BASE_URL || {base};
const response = await fetch(base + {path}, {{
  method: "POST",
  headers: {{ {name}: {before} + key, "Content-Type": "application/json" }},
  body,
}});
if (!response.ok) console.log(response.status, response.statusText);
for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {{
  process.stdout.write(piece);
}}
if (!response.ok) process.exitCode = 1;
"""


def javascript(exchange: Exchange, body: bytes) -> str:
    """An ES module for Node 18 and later."""
    values = {"body": body.decode("utf-8", "replace"), "path": path_of(exchange)}
    values["name"], values["before"] = key_header(exchange)
    written = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
    missing = no_address(exchange)
    written["base"] = f"fail({json.dumps(missing)})" if missing else json.dumps(exchange.base_url)
    return JAVASCRIPT.format(**written)
