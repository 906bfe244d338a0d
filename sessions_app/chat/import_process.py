"""`python -m sessions_app.chat.import_process JOB PROCESS`: imports one file, in a process of its own.

Reading a large file holds the interpreter for moments in which a server would answer nobody.
"""

import signal
import sys
from threading import Event


def main(job: str, process: str) -> None:
    """`job` is the primary key of an ImportJob, `process` the key under which it is claimed.

    SIGTERM ends it after the current transaction and leaves the job to another process.
    """
    import django

    django.setup()
    from sessions_app.chat.imports import run_job
    from sessions_app.runs.background import isolated

    is_stopping = Event()
    signal.signal(signal.SIGTERM, lambda *_: is_stopping.set())
    # Python would print what an error says, which may quote the file.
    with isolated("import_failed", job=job):
        run_job(int(job), process, is_stopping=is_stopping.is_set)


if __name__ == "__main__":
    main(*sys.argv[1:])
