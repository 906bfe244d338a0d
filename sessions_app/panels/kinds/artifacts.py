"""The artifacts panel: workspace files that the model wrote in a session."""

from typing import TYPE_CHECKING, Any

from django.utils import timezone
from pydantic import Field

from sessions_app.models import Artifact, Session
from sessions_app.panels.base import Action, PanelInputs, PanelKind, PanelValue, existing
from sessions_app.panels.file_edits import WriteArtifact
from sessions_app.panels.file_pages import ReadFile, read_file
from sessions_app.panels.kinds.files import FileReferences, value_of_files
from sessions_app.panels.rows import Moment, PanelRow

if TYPE_CHECKING:
    from sessions_app.panels.base import ReadPanel


class ArtifactRow(PanelRow):
    path: str
    changed_at: Moment = Field(default_factory=timezone.now)


class RemoveArtifact(Action):
    """Takes it out of the session; it stays in the workspace."""

    path: str

    def carry_out(self, session: Session) -> str:
        rows = session.artifacts.filter(path=self.path)
        existing(rows, f"“{self.path}” is not in this session any more.").delete()
        return f"{self.path} is taken out; it stays in your workspace."


class Artifacts(PanelKind[ArtifactRow]):
    position = 20
    key = "artifacts"
    title = "Artifacts"
    description = "Files that the model wrote."
    default_on = True
    model = Artifact
    row = ArtifactRow
    is_transferred = True
    transfer_reason = "The conversation made them. Only the names travel, as with open files."
    actions = (WriteArtifact, RemoveArtifact)
    tool_group = "files"

    def value(self, inputs: PanelInputs) -> PanelValue:
        opened = {row.path for row in FileReferences.of(inputs)}
        rows = sorted(self.of(inputs), key=lambda row: (row.changed_at, row.path))
        return value_of_files(
            [
                # A file that is open as a reference too is sent once, there.
                ReadFile(row.path, problem=f"Its content stands under {FileReferences.key}/{row.path}.")
                if row.path in opened
                else read_file(inputs.workspace, row.path)
                for row in rows
            ]
        )

    def template_context(self, session: Session, read: "ReadPanel") -> dict[str, Any]:
        contents = {file.path: file for file in read.files}
        return {"artifacts": [(one, contents.get(one.path)) for one in session.artifacts.all()]}
