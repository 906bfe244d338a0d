"""Stage 10: the four layers."""

from dataclasses import replace

from sessions_app.context.clock import rounded
from sessions_app.prompt.layers import build_layers
from sessions_app.runs.pipeline.work import Report, Work


def build(work: Work) -> Report:
    """Raises PromptError when there is nothing to answer."""
    work.layers = built = build_layers(
        replace(work.static, history=work.chunks),
        work.panels,
        rounded(work.run.now, work.options),
        work.turns,
        work.toolbox.declarations(work.tools),
    )
    return Report(f"{len(work.turns)} turns", f"{len(built.buffered)} buffered, one trigger")
