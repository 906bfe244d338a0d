"""The emulator's way to sum up: the first sentence of everybody, in order."""

import re

from sessions_app.emulator.scripts import Scene, Script

_CUE = re.compile(r"write a summary of the (?:answer|conversation)", re.I)
_SAID = re.compile(r"^\[(user|assistant)\]: (.+)", re.M)
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|$)")
_MOST = 12
_LENGTH = 160


def summary(scene: Scene) -> Script | None:
    """A summary of the content before the one that asks for it."""
    if not _CUE.match(scene.text) or len(scene.contents) < 2:
        return None
    material = "\n".join(part.text for part in scene.contents[-2].parts if part.text)
    said = [_told(who, words) for who, words in _SAID.findall(material)]
    left = len(said) - _MOST
    lines = said[:_MOST] + ([f"- … and {left} more."] if left > 0 else [])
    thought = "**Summing up**\n\nThe first sentence of each message is kept."
    return Script(text="\n".join(lines) or "Nothing was said.", thoughts=(thought,))


def _told(who: str, words: str) -> str:
    first = _SENTENCE.match(words)
    sentence = (first[0] if first else words)[:_LENGTH]
    return f"- {'Asked' if who == 'user' else 'Answered'}: {sentence}"
