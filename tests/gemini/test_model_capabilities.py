import pytest

from sessions_app.gemini.model_capabilities import capabilities_of, known_models


@pytest.mark.parametrize(
    ("model", "explicit", "thinking", "signed"),
    [
        ("gemini-4-argon", None, "level", True),
        ("gemini-3.8-flash", 1_024, "level", True),
        ("gemini-3-flash-preview", 1_024, "level", True),
        ("gemini-2.5-flash", 1_024, "budget", False),
        ("gemini-2.0-flash", 4_096, "none", False),
        ("somebody-else-7b", None, "none", False),
    ],
)
def test_generations_differ(model: str, explicit: int | None, thinking: str, signed: bool) -> None:
    facts = capabilities_of(model)
    assert (facts.explicit_minimum, facts.thinking, facts.signatures_required) == (explicit, thinking, signed)
    assert facts.has_explicit_caches == (explicit is not None)


@pytest.mark.parametrize(
    "name", ["models/gemini-2.5-flash", "gemini-2.5-flash-001", "gemini-2.5-flash-preview-09-2025"]
)
def test_a_prefix_or_revision_is_the_same_model(name: str) -> None:
    facts = capabilities_of(name)
    assert facts.known
    assert facts.family == "gemini-2.5-flash"


def test_an_unlisted_model_has_the_facts_of_its_generation() -> None:
    facts = capabilities_of("gemini-3.9-flash")
    assert not facts.known
    assert facts.explicit_minimum == capabilities_of("gemini-3.8-flash").explicit_minimum


def test_a_generation_to_come_is_taken_as_the_newest() -> None:
    facts = capabilities_of("gemini-5-boron")
    assert not facts.known
    assert not facts.has_explicit_caches
    assert facts.signatures_required


def test_a_routed_name_belongs_to_the_family_that_serves() -> None:
    assert capabilities_of("gemini-3.7-flash").family == capabilities_of("gemini-3.8-flash").family
    assert capabilities_of("gemini-3-pro-preview").family == "gemini-3.1-pro-preview"
    assert capabilities_of("gemini-3-pro-preview").model == "gemini-3-pro-preview"


def test_only_models_with_levels_take_a_level() -> None:
    for name in known_models():
        facts = capabilities_of(name)
        assert facts.known
        assert bool(facts.levels) == (facts.thinking == "level")
