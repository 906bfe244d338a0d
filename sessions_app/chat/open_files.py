"""The files that are open for the model, as the composer lists them."""

from collections.abc import Sequence

from django.http import HttpResponse
from django_htmx.http import trigger_client_event

from sessions_app.context.workspaces import workspace_of
from sessions_app.models import Session
from sessions_app.panels.file_pages import ReadFile, read_file
from sessions_app.panels.kinds.files import FileReferences


def open_files(session: Session) -> Sequence[ReadFile]:
    """In the order in which they were opened. None while their panel is off: none is sent then."""
    if not FileReferences().is_on(session.options):
        return ()
    files = session.references.filter(enabled=True).values_list("path", "page")
    workspace = workspace_of(session.owner_id)
    return tuple(read_file(workspace, path, page) for path, page in files)


def opened_response() -> HttpResponse:
    """After a file was opened in a dialog: the page closes it and reads the list again."""
    response = HttpResponse(status=204)
    trigger_client_event(response, "closes-dialog")
    return trigger_client_event(response, "session-changed")
