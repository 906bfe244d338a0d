"""Files of forms, kept on disk without a name while their request lasts."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, StopUpload, TemporaryFileUploadHandler

from sessions_app.storage_errors import refusal_of


class NamelessFileUploadHandler(TemporaryFileUploadHandler):
    """Keeps a file of a form on disk without a name: nothing of it stays when the process is killed.

    Where the disk has no room, or is read-only, the request is refused like one whose body was not read.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        FileUploadHandler.new_file(self, *args, **kwargs)
        with self._refused_by_disk():
            file = TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115
        described = (self.file_name, self.content_type, 0, self.charset, self.content_type_extra)
        self.file = UploadedFile(file, *described)  # type: ignore[assignment]

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        with self._refused_by_disk():
            self.file.write(raw_data)

    def file_complete(self, file_size: int) -> Any:
        with self._refused_by_disk():
            return super().file_complete(file_size)

    @contextmanager
    def _refused_by_disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if (refused := refusal_of(error)) is None:
                raise
            self.upload_interrupted()
            self.request.scope["refused"] = refused  # type: ignore[union-attr]
            raise StopUpload(connection_reset=True) from error

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            with suppress(OSError):  # What has no room on the disk is written when it closes.
                self.file.close()
