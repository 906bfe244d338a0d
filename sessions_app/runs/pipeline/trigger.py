"""Stage 1: what asks for an answer."""

from sessions_app.runs.pipeline.work import Report, Work


def build(work: Work) -> Report:
    """The trigger is a turn already: the person's message, or the tool responses of the last round."""
    if work.step == 1:
        text = work.run.trigger.text if work.run.trigger else ""
        return Report("user_text", f"a user task of {len(text)} characters")
    return Report("tool_results", f"the tool responses of round {work.step - 1}")
