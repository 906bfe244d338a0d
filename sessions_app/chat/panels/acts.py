"""What a person does in the panels, one small act after the other: add, tick, edit, forget, switch off."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404

from sessions_app.chat.panels import offers
from sessions_app.chat.panels.forms import (
    LifeForm,
    LogForm,
    MemoryForm,
    NoForm,
    NoteForm,
    PageForm,
    SwitchForm,
    TodoForm,
)
from sessions_app.context.facts import user_turns
from sessions_app.errors import NotKept
from sessions_app.models import (
    Artifact,
    LogEntry,
    Memory,
    Note,
    PromptText,
    Reference,
    Session,
    Todo,
)
from sessions_app.tools import TOOLBOX

Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Act:
    """`carry_out` answers what was done, in words. `target` is the number of a row, or the name of a tool.

    It raises Http404 for a row that is not this session's and NotKept for what cannot be.
    """

    panel: str
    form: type[forms.Form]
    carry_out: Callable[[Session, str, Data], str]


def _add_todo(session: Session, target: str, data: Data) -> str:
    return f"Todo {Todo.objects.add_to(session, data['title']).position} is added."


def _tick_todo(session: Session, target: str, data: Data) -> str:
    _one(session.todos.filter(position=_number(target))).tick(done=data["on"])
    return f"Todo {target} is {'done' if data['on'] else 'open again'}."


def _edit_todo(session: Session, target: str, data: Data) -> str:
    _one(session.todos.filter(position=_number(target))).reword(data["title"])
    return f"Todo {target} is changed."


def _remove_todo(session: Session, target: str, data: Data) -> str:
    _one(session.todos.filter(position=_number(target))).delete()
    return f"Todo {target} is removed."


def _add_memory(session: Session, target: str, data: Data) -> str:
    _refuse_double(session, data["text"])
    Memory.objects.remember(session.owner_id, data["text"], data["importance"], session=session)
    return "It will be remembered in every session of yours."


def _edit_memory(session: Session, target: str, data: Data) -> str:
    memory = _one(Memory.objects.filter(owner_id=session.owner_id, pk=_number(target)))
    _refuse_double(session, data["text"], but=_number(target))
    memory.reword(data["text"], data["importance"])
    return "The memory is changed."


def _refuse_double(session: Session, text: str, but: int = 0) -> None:
    """The model forgets by number: two of the same words would be half forgotten."""
    if Memory.objects.filter(owner_id=session.owner_id, text=text).exclude(pk=but).exists():
        raise NotKept("This is remembered already.", hint="Change the memory that is there.")


def _forget(session: Session, target: str, data: Data) -> str:
    _one(Memory.objects.filter(owner_id=session.owner_id, pk=_number(target))).delete()
    return "It is forgotten."


def _add_note(session: Session, target: str, data: Data) -> str:
    return f"Note {Note.objects.add_to(session, data['text'], data['title']).position} is added."


def _edit_note(session: Session, target: str, data: Data) -> str:
    note = _one(session.notes.filter(position=_number(target)))
    note.update(title=data["title"])
    note.rewrite(data["text"])
    return f"Note {target} is changed."


def _clear_note(session: Session, target: str, data: Data) -> str:
    _one(session.notes.filter(position=_number(target))).delete()
    return f"Note {target} is cleared."


def _add_log(session: Session, target: str, data: Data) -> str:
    LogEntry.objects.add_to(session, data["text"])
    return "The line is added."


def _remove_log(session: Session, target: str, data: Data) -> str:
    _one(session.log_entries.filter(pk=_number(target))).delete()
    return "The line is removed."


def _switch_file(session: Session, target: str, data: Data) -> str:
    """Switched on again it begins its life anew: one that is over would close it with the next message."""
    files = _reference(session, target)
    with transaction.atomic():
        files.switch(on=data["on"])
        if data["on"]:
            files.live_for(files.get().ttl, born=user_turns(session))
    return f"{files.get().path} is {'on' if data['on'] else 'off'}."


def _pin_file(session: Session, target: str, data: Data) -> str:
    files = _reference(session, target)
    files.pin(on=data["on"])
    return f"{files.get().path} {'stays until you remove it' if data['on'] else 'is pinned no more'}."


def _keep_file(session: Session, target: str, data: Data) -> str:
    files = _reference(session, target)
    files.live_for(data["ttl"], born=user_turns(session))
    return f"{files.get().path} stays {'for ' + _messages(data['ttl']) if data['ttl'] else 'for ever'}."


def _turn_file(session: Session, target: str, data: Data) -> str:
    files = _reference(session, target)
    files.turn_to(data["page"])
    return f"{files.get().path}: page {data['page']}."


def _remove_file(session: Session, target: str, data: Data) -> str:
    """Takes it out of the session; it stays in the workspace."""
    files = _reference(session, target)
    path = files.get().path
    files.delete()
    return f"{path} is taken out; it stays in your workspace."


def _remove_artifact(session: Session, target: str, data: Data) -> str:
    found: QuerySet[Artifact] = _one(session.artifacts.filter(pk=_number(target)))
    path = found.get().path
    found.delete()
    return f"{path} is taken out; it stays in your workspace."


def _see(session: Session, target: str, data: Data) -> str:
    _one(session.notifications.filter(number=_number(target))).dismiss()
    return f"N{target} is marked as seen."


def _see_all(session: Session, target: str, data: Data) -> str:
    session.notifications.told().dismiss()
    return "All are marked as seen."


def _switch_tool(session: Session, target: str, data: Data) -> str:
    tool = next((tool for tool in TOOLBOX if tool.name == target), None)
    if tool is None:
        raise Http404
    offers.switch(session, target, on=data["on"])
    return f"{tool.title} is {'on' if data['on'] else 'off'}."


def _switch_skill(session: Session, target: str, data: Data) -> str:
    skills = dict(PromptText.objects.filter(kind=PromptText.Kind.SKILL).values_list("pk", "name"))
    name = skills.get(_number(target))
    if name is None:
        raise Http404
    session.switch_skill(name, data["on"], skills.values())
    return f"“{name}” is {'on' if data['on'] else 'off'}."


def _reference(session: Session, target: str) -> Any:
    return _one(Reference.objects.filter(session=session, pk=_number(target)))


def _one(rows: Any) -> Any:
    """The same rows, if there are any: what is not this session's does not exist."""
    if not rows.exists():
        raise Http404
    return rows


def _number(target: str) -> int:
    if not (target.isascii() and target.isdigit() and len(target) < 10):
        raise Http404
    return int(target)


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"


ACTS: Mapping[str, Act] = {
    "add-todo": Act("todos", TodoForm, _add_todo),
    "tick-todo": Act("todos", SwitchForm, _tick_todo),
    "edit-todo": Act("todos", TodoForm, _edit_todo),
    "remove-todo": Act("todos", NoForm, _remove_todo),
    "add-memory": Act("memories", MemoryForm, _add_memory),
    "edit-memory": Act("memories", MemoryForm, _edit_memory),
    "forget": Act("memories", NoForm, _forget),
    "add-note": Act("scratchpad", NoteForm, _add_note),
    "edit-note": Act("scratchpad", NoteForm, _edit_note),
    "clear-note": Act("scratchpad", NoForm, _clear_note),
    "add-log": Act("logs", LogForm, _add_log),
    "remove-log": Act("logs", NoForm, _remove_log),
    "switch-file": Act("file_references", SwitchForm, _switch_file),
    "pin-file": Act("file_references", SwitchForm, _pin_file),
    "keep-file": Act("file_references", LifeForm, _keep_file),
    "turn-file": Act("file_references", PageForm, _turn_file),
    "remove-file": Act("file_references", NoForm, _remove_file),
    "remove-artifact": Act("artifacts", NoForm, _remove_artifact),
    "see": Act("notifications", NoForm, _see),
    "see-all": Act("notifications", NoForm, _see_all),
    "switch-skill": Act("skills", SwitchForm, _switch_skill),
    "switch-tool": Act("offers", SwitchForm, _switch_tool),
}
