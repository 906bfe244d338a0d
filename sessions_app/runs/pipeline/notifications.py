"""Stage 2: what the model will now see counts as seen."""

from sessions_app.models import Notification
from sessions_app.runs.pipeline.work import Report, Work


def mark(work: Work) -> Report:
    """Every open notification, of whatever kind: one that stayed open would fire for ever.

    A message that still waits stays open, since this request does not hold it. In a round of tools
    nothing new has come into view.
    """
    if work.step > 1:
        return Report("a round of tools", "", "nothing")
    seen = Notification.objects.mark_seen(work.session.pk) if work.has_notices else []
    if not seen:
        return Report("no notification", "", "nothing")
    return Report(f"{len(seen)} open", "seen", details=tuple(one.line for one in seen))
