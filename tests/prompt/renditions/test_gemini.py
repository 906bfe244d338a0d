import pytest

from sessions_app.prompt.payload import GenerationConfig, assemble
from sessions_app.prompt.renditions import gemini
from sessions_app.prompt.renditions.original import Original
from tests.prompt.examples import TOOL_LOOP, layers
from tests.prompt.renditions.examples import FLIGHT


@pytest.mark.parametrize("declarations", [(), (FLIGHT,)], ids=["bare", "tools"])
@pytest.mark.parametrize(
    "config", [GenerationConfig(include_thoughts=False), GenerationConfig(temperature=1)]
)
@pytest.mark.parametrize("name", ["", "cachedContents/a"])
def test_as_if_inline_is_what_would_have_been_sent_on_a_miss(
    declarations: tuple[dict[str, object], ...], config: GenerationConfig, name: str
) -> None:
    built = layers(*TOOL_LOOP, declarations=declarations)
    sent = assemble(built, config, model="m", cached_content=name)
    assert gemini.inline(Original.of(sent)) == assemble(built, config, model="m").body
