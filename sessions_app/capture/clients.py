"""How programs are pointed at an address: the lines for each, in the ways that recorded clients took."""

from collections.abc import Iterator
from dataclasses import dataclass

MODEL = "gemini-3.8-flash"


@dataclass(frozen=True, slots=True)
class ClientLines:
    """`lines` have `{base}` where the address stands. `note` says what else has to be known."""

    key: str
    title: str
    lines: str
    note: str = ""

    def for_address(self, base: str) -> str:
        return self.lines.replace("{base}", base)


CLIENTS = (
    ClientLines(
        "curl",
        "curl",
        f"curl '{{base}}/v1beta/models/{MODEL}:generateContent' \\\n"
        "  -H \"x-goog-api-key: $GEMINI_API_KEY\" -H 'Content-Type: application/json' \\\n"
        '  -d \'{"contents":[{"role":"user","parts":[{"text":"Say hello."}]}]}\'',
        "One request to try it with.",
    ),
    ClientLines(
        "gemini-cli",
        "Gemini CLI",
        "mkdir -p ~/.gemini-capture/.gemini\n"
        'echo \'{"security":{"auth":{"selectedType":"gemini-api-key"}}}\' '
        "> ~/.gemini-capture/.gemini/settings.json\n"
        "GEMINI_CLI_HOME=~/.gemini-capture GOOGLE_GEMINI_BASE_URL='{base}' gemini",
        "The settings file is needed: without it, it says “Invalid auth method selected”. After a login with "
        "Google it does not use the address, so nothing of it is seen here.",
    ),
    ClientLines(
        "python",
        "google-genai (Python)",
        "from google import genai\nfrom google.genai import types\n\n"
        "client = genai.Client(http_options=types.HttpOptions(base_url='{base}'))",
        "Or, without a change of the program: GOOGLE_GEMINI_BASE_URL='{base}'. "
        "Interactions are listed, each with its tokens and cost; they are not taken apart into layers.",
    ),
    ClientLines(
        "javascript",
        "@google/genai (JavaScript)",
        'import { GoogleGenAI } from "@google/genai";\n\n'
        "const ai = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY, "
        "httpOptions: { baseUrl: '{base}' } });",
        "Sessions of the Live API are not relayed. Interactions are listed, each with its tokens and cost; "
        "they are not taken apart into layers.",
    ),
    ClientLines("adk", "ADK", "GOOGLE_GEMINI_BASE_URL='{base}' adk run my_agent"),
    ClientLines(
        "langchain",
        "LangChain",
        f"ChatGoogleGenerativeAI(model='{MODEL}', base_url='{{base}}')",
        "GOOGLE_GEMINI_BASE_URL works as well.",
    ),
    ClientLines(
        "pydantic-ai", "Pydantic AI", f"GoogleModel('{MODEL}', provider=GoogleProvider(base_url='{{base}}'))"
    ),
    ClientLines(
        "litellm",
        "LiteLLM",
        f"litellm.completion(model='gemini/{MODEL}', api_base='{{base}}/v1beta', messages=messages)",
    ),
    ClientLines(
        "openai",
        "OpenAI SDK",
        "import os\n\nfrom openai import OpenAI\n\n"
        "client = OpenAI(base_url='{base}/v1beta/openai/', api_key=os.environ['GEMINI_API_KEY'])",
        "Its requests are listed, each with its tokens and cost; they are not taken apart into layers.",
    ),
    ClientLines("ai-sdk", "AI SDK", "const google = createGoogleGenerativeAI({ baseURL: '{base}/v1beta' });"),
)


def lines_for(base: str) -> Iterator[tuple[ClientLines, str, str]]:
    """Each program with its lines and its note for this address."""
    for client in CLIENTS:
        yield client, client.for_address(base), client.note.replace("{base}", base)
