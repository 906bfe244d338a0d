"""The commands of a page that ask for an answer."""

from collections.abc import Awaitable

from sessions_app.database import database_sync_to_async
from sessions_app.events import Known
from sessions_app.runs.once import is_known
from sessions_app.runs.runner import Runner
from sessions_app.socket_commands import Edit, Resume, Retry, Send

AnswerCommand = Send | Retry | Resume | Edit


async def request_answer(runner: Runner, session_pk: int, command: AnswerCommand) -> Known | None:
    """Begins or queues what is asked for. Known where it was begun before. Raises RunError, OverLimit."""
    if await _begin(runner, session_pk, command):
        return None
    was_begun = await database_sync_to_async(is_known)(session_pk, command.client_id)
    return Known(client_id=command.client_id) if was_begun else None


def _begin(runner: Runner, session: int, command: AnswerCommand) -> Awaitable[bool]:
    client = command.client_id
    match command:
        case Send():
            text, files = command.text, command.attachments
            return runner.send(session, client, text, command.language, files=files)
        case Retry():
            return runner.retry(session, client, command.run, command.turn, command.model)
        case Resume():
            return runner.resume(session, client, command.run, command.turn, repeats=command.repeat)
        case Edit():
            return runner.edit(session, client, command.turn, command.text)
