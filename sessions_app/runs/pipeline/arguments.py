"""Stages 7 and 8: the prompt arguments, and the texts rendered with them."""

from sessions_app.context.arguments import arguments_of, message_of
from sessions_app.context.remarks import remarks, worst
from sessions_app.context.static import instructions, read_texts, static_sources, write_texts
from sessions_app.runs.pipeline.work import Report, Work


def prepare(work: Work) -> Report:
    """One map for the whole run: after tools it is built from the stored trigger again."""
    found = arguments_of(work.session, message_of(work.run), work.run.now)
    work.arguments = found.values
    mine = found.values["args"]
    return Report(
        f"{len(mine)} arguments of the session",
        f"{len(found.values)} names",
        "noticed" if found.reports else "ok",
        found.reports,
    )


def render(work: Work) -> Report:
    """The texts of the session, each for itself; what moved stands in the dynamic layer."""
    texts = write_texts(read_texts(work.session), work.arguments)
    work.static = static_sources(work.session, texts, work.tools)
    moved = instructions(texts, work.run.now)
    if moved is not None:
        work.panels = (*work.panels, moved)
    templates = sum(each.rendered.status != "plain" for each in texts)
    return Report(
        f"{sum(bool(each.text.body) for each in texts)} texts",
        f"{templates} templates" if templates else "as written",
        worst(texts),
        tuple(line for each in texts for line in remarks(each)),
    )
