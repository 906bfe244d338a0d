"""What was done with assistants."""

DELETED = "“{name}” is deleted. Chats that were made with it stay as they are."


def deleted(name: str) -> str:
    return DELETED.format(name=name)
