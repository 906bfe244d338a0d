"""Stage 12: the request is assembled and looked at once more."""

from sessions_app.context.capabilities import doubts_about
from sessions_app.gemini.capabilities import Capabilities
from sessions_app.models import SessionSettings
from sessions_app.prompt.payload import GenerationConfig, assemble
from sessions_app.prompt.structure import verify
from sessions_app.runs.pipeline.work import Report, Work


def check(work: Work) -> Report:
    """The invariants of the wire and of seed 2. Raises PromptError for what would be refused."""
    layers, decided = work.layers, work.plan
    work.payload = assemble(
        layers,
        generation_config(work.options, work.capabilities),
        model=work.session.model,
        cached_content=decided.name,
    )
    findings = verify(layers.turns, required=work.capabilities.signatures_required)
    work.notes += findings
    noticed = (*doubts_about(work.session.model, work.served), *(found.words for found in findings))
    size = f"{len(work.payload.items)} items, {len(work.payload.body):,} bytes"
    return Report("the payload", size, "noticed" if noticed else "ok", noticed)


def generation_config(options: SessionSettings, capabilities: Capabilities) -> GenerationConfig:
    """The person's settings, as far as the model knows them."""
    return GenerationConfig(
        temperature=options.temperature if capabilities.sampling else None,
        thinking_level=options.thinking_level if options.thinking_level in capabilities.levels else "",
        thinking_budget=options.thinking_budget if capabilities.thinking == "budget" else None,
        include_thoughts=options.include_thoughts and capabilities.thinking != "none",
    )
