import orjson
import pytest
from google.genai import errors
from google.genai.client import AsyncClient

from sessions_app.emulator import Emulator
from sessions_app.emulator.catalogue import MODELS
from sessions_app.emulator.embeddings import EMBEDDING_MODELS
from sessions_app.emulator.http import ApiRequest
from tests.emulator.helpers import FLASH, generate, send, user

HELLO = orjson.dumps({"contents": [user("hello")]})
GENERATE = f"models/{FLASH}:generateContent"


@pytest.mark.parametrize("version", ["/v1", "/v1beta", "/v1alpha", ""])
def test_every_version_and_none_is_served(emulator: Emulator, version: str) -> None:
    request = ApiRequest("POST", f"{version}/{GENERATE}", {"key": "emulator"}, {}, HELLO)
    assert emulator.handle(request).status == 200
    listed = ApiRequest("GET", f"{version}/openai/models", {}, {"authorization": "Bearer emulator"})
    assert emulator.handle(listed).status == 200
    bare = ApiRequest("POST", f"/upload{version}/files", {"key": "emulator", "uploadType": "media"}, {}, b"a")
    assert emulator.handle(bare).status == 200


async def test_models_are_listed_and_described(sdk: AsyncClient) -> None:
    listed = [model.name async for model in await sdk.models.list()]
    argon = await sdk.models.get(model="gemini-4-argon")
    flash = await sdk.models.get(model=FLASH)
    assert listed == [f"models/{name}" for name in (*MODELS, *EMBEDDING_MODELS)]
    assert "createCachedContent" in (flash.supported_actions or [])
    assert "createCachedContent" not in (argon.supported_actions or [])


def test_models_come_in_pages(emulator: Emulator) -> None:
    first = orjson.loads(send(emulator, "GET", "models", pageSize="10")[1])
    second = orjson.loads(send(emulator, "GET", "models", pageSize="10", pageToken=first["nextPageToken"])[1])
    assert len(first["models"]) + len(second["models"]) == len(MODELS) + len(EMBEDDING_MODELS)
    assert send(emulator, "GET", "models", pageSize="many")[0] == 400


async def test_an_unknown_model_is_a_404(sdk: AsyncClient) -> None:
    with pytest.raises(errors.ClientError) as refused:
        await sdk.models.generate_content(model="gemini-3.6-flahs", contents="hello")
    assert (refused.value.code, refused.value.status) == (404, "NOT_FOUND")
    assert refused.value.message == (
        "models/gemini-3.6-flahs is not found for API version v1beta, or is not supported for "
        "generateContent. Call ModelService.ListModels to see the list of available models and their "
        "supported methods."
    )


def test_a_model_that_cannot_be_described_is_a_404_in_other_words(emulator: Emulator) -> None:
    status, body = send(emulator, "GET", "models/none")
    error = orjson.loads(body)["error"]
    assert (status, error["message"]) == (404, "Model is not found: models/none for api version v1beta")


def test_without_a_key_it_is_a_403(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", GENERATE, HELLO, key="")
    assert status == 403 and b"unregistered callers" in body


def test_a_key_that_says_it_is_invalid_is_the_recorded_400(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", GENERATE, HELLO, key="an-invalid-one")
    assert status == 400 and orjson.loads(body)["error"]["details"][0]["reason"] == "API_KEY_INVALID"


def test_a_form_of_answer_that_there_is_not_is_refused_before_the_key(emulator: Emulator) -> None:
    status, body = send(emulator, "POST", GENERATE, HELLO, key="", alt="sse?key=a")
    message = orjson.loads(body)["error"]["message"]
    assert (status, message) == (400, "Invalid value \"sse?key=a\" for query parameter 'alt'")
    assert send(emulator, "POST", GENERATE, HELLO, alt="json")[0] == 200


@pytest.mark.parametrize(
    ("method", "path"), [("GET", GENERATE), ("POST", "models"), ("GET", "tunedModels/a")]
)
def test_an_unknown_route_is_a_404(emulator: Emulator, method: str, path: str) -> None:
    assert send(emulator, method, path)[0] == 404


def test_the_root_is_a_404(emulator: Emulator) -> None:
    assert emulator.handle(ApiRequest("GET", "/", {"key": "emulator"})).status == 404


def test_too_many_tokens_are_refused() -> None:
    error = generate(Emulator(delay=0), {"contents": [user("a" * 3_500_000)]})["error"]
    assert error["message"].endswith("exceeds the maximum number of tokens allowed (1048576).")


def test_counting_takes_a_whole_request(emulator: Emulator) -> None:
    inner = {"model": f"models/{FLASH}", "contents": [user("hello")], "systemInstruction": user("Be terse.")}
    answer = send(emulator, "POST", f"models/{FLASH}:countTokens", {"generateContentRequest": inner})
    assert orjson.loads(answer[1]) == {
        "totalTokens": 5,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 5}],
    }


def test_counting_nothing_is_an_empty_object(emulator: Emulator) -> None:
    assert send(emulator, "POST", f"models/{FLASH}:countTokens", {})[1] == b"{}\n"


def test_counting_takes_one_form_at_a_time(emulator: Emulator) -> None:
    body = {"contents": [user("a")], "generateContentRequest": {"contents": [user("a")]}}
    assert send(emulator, "POST", f"models/{FLASH}:countTokens", body)[0] == 400


def test_the_journal_keeps_what_came_and_what_became_of_it(emulator: Emulator) -> None:
    send(emulator, "POST", GENERATE, HELLO)
    entry = emulator.journal.last
    assert (entry.method, entry.path, entry.body, entry.status) == ("POST", f"/v1beta/{GENERATE}", HELLO, 200)
    assert entry.chunks == 1 and not entry.closed_early and not entry.under_way


def test_the_journal_forgets_the_oldest(emulator: Emulator) -> None:
    for _ in range(250):
        send(emulator, "GET", "models/none")
    assert len(emulator.journal) == 200
    assert next(iter(emulator.journal)).number == 51
