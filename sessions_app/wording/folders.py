"""What was done with the folders of chats."""

MOVED = {
    "one": "“{title}” is in “{folder}”.",
    "several": "{count} chats are in “{folder}”.",
    "one out": "“{title}” is in no folder.",
    "several out": "{count} chats are in no folder.",
}

DELETED = "The folder “{folder}” is deleted. Its chats are in the list."
TOO_MANY = "You have {limit} folders. Delete one first."


def moved(title: str, count: int, folder: str | None) -> str:
    """After `count` chats went into a folder, or out of theirs; `title` is that of the first."""
    case = ("one" if count == 1 else "several") + ("" if folder is not None else " out")
    return MOVED[case].format(title=title, count=count, folder=folder)
