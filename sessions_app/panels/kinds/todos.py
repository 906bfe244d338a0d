"""The todos panel and its actions."""

from typing import Annotated, Any

from django.utils import timezone
from pydantic import Field, StringConstraints

from sessions_app.errors import ToolError
from sessions_app.models import Session, Todo
from sessions_app.models.panel_items import TODO_TITLE_LIMIT
from sessions_app.panels.base import Action, PanelKind, existing
from sessions_app.panels.rows import Moment, PanelRow
from sessions_app.tools.tool_context import ToolContext
from sessions_app.tools.toolbox import tool

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=TODO_TITLE_LIMIT)]


class TodoRow(PanelRow):
    position: int
    title: str
    done: bool = False
    changed_at: Moment = Field(default_factory=timezone.now)

    @property
    def value(self) -> dict[str, Any]:
        return self.model_dump(include={"position", "title", "done"})


class AddTodo(Action):
    """Adds a todo to the session's list."""

    tool_title = "Add a todo"
    title: Annotated[Title, Field(description="What is to be done")]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        return {"added": self.title}

    def carry_out(self, session: Session) -> str:
        return f"Todo {Todo.objects.add_to(session, self.title).position} is added."


class TodoAction(Action):
    """An action on one todo."""

    position: int

    def read(self, context: ToolContext) -> TodoRow:
        """The todo before the calls of this round. Raises ToolError."""
        todos = {todo.position: todo for todo in Todos.of(context)}
        if self.position in todos:
            return todos[self.position]
        known = ", ".join(map(str, todos))
        raise ToolError(
            f"There is no todo at position {self.position}.", hint=f"Positions: {known or 'none'}."
        )

    def stored(self, session: Session) -> Any:
        rows = session.todos.filter(position=self.position)
        return existing(rows, f"There is no todo at position {self.position} any more.")


class CompleteTodo(TodoAction):
    """Marks a todo of the session's list as done."""

    tool_title = "Complete a todo"
    position: Annotated[int, Field(description="Position of the todo in the list, counted from 1")]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        todo = self.read(context)
        return {"completed": todo.title, "was_done_before": todo.done}

    def carry_out(self, session: Session) -> str:
        self.stored(session).set_done()
        return f"Todo {self.position} is done."


class ReopenTodo(TodoAction):
    def carry_out(self, session: Session) -> str:
        self.stored(session).set_done(done=False)
        return f"Todo {self.position} is open again."


class EditTodo(TodoAction):
    """Changes the words of a todo."""

    tool_title = "Edit a todo"
    title: Annotated[Title, Field(description="The new words")]

    def answer(self, context: ToolContext) -> dict[str, Any]:
        return {"was": self.read(context).title, "is": self.title}

    def carry_out(self, session: Session) -> str:
        self.stored(session).reword(self.title)
        return f"Todo {self.position} is changed."


class RemoveTodo(TodoAction):
    """Removes a todo; the others keep their positions."""

    tool_title = "Remove a todo"

    def answer(self, context: ToolContext) -> dict[str, Any]:
        return {"removed": self.read(context).title}

    def carry_out(self, session: Session) -> str:
        self.stored(session).delete()
        return f"Todo {self.position} is removed."


def list_todos(context: ToolContext) -> dict[str, Any]:
    """Lists the session's todos."""
    return {"todos": [todo.value for todo in Todos.of(context)]}


class Todos(PanelKind[TodoRow]):
    position = 30
    key = "todos"
    title = "Todos"
    description = "What is to be done in this session."
    default_on = True
    model = Todo
    row = TodoRow
    order = "position"
    is_transferred = True
    transfer_reason = "The conversation speaks of them by their numbers."
    actions = (AddTodo, CompleteTodo, ReopenTodo, EditTodo, RemoveTodo)
    tool_group = "todos"
    reading_tools = (tool(list_todos, "todos", "List todos"),)
