"""`python -m sessions_app.documents.worker`: does one job and ends.

Standard input: a line of JSON (`jobs.Job`), then bytes. Standard output: the same, with a `jobs.Result`.
It has no environment, writes no file, starts no process, and its memory and computing time are limited.
"""

import resource
import sys
from time import monotonic

from sessions_app.documents.converting import Text, document_text, page_text
from sessions_app.documents.fetching import SECONDS, Rules, fetch
from sessions_app.documents.jobs import Job, Result
from sessions_app.errors import DocumentRefused

MEMORY = 1_000_000_000
COMPUTING_SECONDS = 20


def main() -> None:
    limits = {
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_CPU: COMPUTING_SECONDS,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))
    job = Job.model_validate_json(sys.stdin.buffer.readline())
    body = sys.stdin.buffer.read()
    try:
        result, made = _done(job, body)
    except DocumentRefused as refused:
        result, made = Result(problem=refused.reason, figures=refused.figures), b""
    sys.stdout.buffer.write(result.model_dump_json().encode() + b"\n" + made)


def _done(job: Job, body: bytes) -> tuple[Result, bytes]:
    """Raises DocumentRefused."""
    if job.kind == "fetch":
        page = fetch(job.url, Rules(monotonic() + SECONDS, job.allows_loopback))
        return Result(url=page.url, mime=page.mime, charset=page.charset), page.body
    if job.kind == "page":
        return _written(page_text(body, job.mime, job.charset, job.url))
    return _written(document_text(body))


def _written(found: Text) -> tuple[Result, bytes]:
    return Result(title=found.title), found.text.encode(errors="replace")


if __name__ == "__main__":
    main()
