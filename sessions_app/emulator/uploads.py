"""The routes of files: start an upload, send bytes, finish; get, list, delete."""

from sessions_app.emulator.answers import page, whole
from sessions_app.emulator.exchange import Response
from sessions_app.emulator.files import Cabinet
from sessions_app.emulator.parsing import parse
from sessions_app.emulator.refusals import invalid
from sessions_app.emulator.shapes import UploadRequest
from sessions_app.emulator.visits import Visit

_COMMAND, _OFFSET = "x-goog-upload-command", "x-goog-upload-offset"
_TYPE = "x-goog-upload-header-content-type"


def upload(cabinet: Cabinet, visit: Visit) -> Response:
    """One request of the resumable protocol; `X-Goog-Upload-Command` says which."""
    commands = {word.strip() for word in visit.request.headers.get(_COMMAND, "").split(",")}
    if "start" in commands:
        return _start(cabinet, visit)
    if not commands & {"upload", "finalize"}:
        raise invalid("Invalid upload command.")
    return _send(cabinet, visit, is_last="finalize" in commands)


def get_file(cabinet: Cabinet, visit: Visit) -> Response:
    return whole(visit.entry, cabinet.find(visit.name, visit.request.key).resource(cabinet.now()))


def list_files(cabinet: Cabinet, visit: Visit) -> Response:
    files = [file.resource(cabinet.now()) for file in cabinet.of(visit.request.key)]
    return whole(visit.entry, page("files", files, visit))


def delete_file(cabinet: Cabinet, visit: Visit) -> Response:
    cabinet.delete(visit.name, visit.request.key)
    return whole(visit.entry, {})


def _start(cabinet: Cabinet, visit: Visit) -> Response:
    asked = parse(UploadRequest, visit.request.body)
    upload_id = cabinet.start(asked.file, visit.request.headers.get(_TYPE, ""), visit.request.key)
    url = f"{visit.request.base}/upload/{visit.version}/files?upload_id={upload_id}&upload_protocol=resumable"
    headers = {"x-goog-upload-url": url, "x-goog-upload-status": "active"}
    return whole(visit.entry, {}, headers=headers)


def _send(cabinet: Cabinet, visit: Visit, *, is_last: bool) -> Response:
    upload_id = visit.request.query.get("upload_id", "")
    offset = visit.request.headers.get(_OFFSET, "0")
    if not (offset.isascii() and offset.isdecimal()):
        raise invalid(f"Invalid upload offset: {offset}")
    cabinet.receive(upload_id, visit.request.body, int(offset))
    if not is_last:
        return whole(visit.entry, {}, headers={"x-goog-upload-status": "active"})
    file = cabinet.finish(upload_id, f"{visit.request.base}/{visit.version}")
    made = {"file": file.resource(cabinet.now())}
    return whole(visit.entry, made, headers={"x-goog-upload-status": "final"})
