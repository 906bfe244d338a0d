"""What the stage that reads panels says of each."""

from collections.abc import Mapping
from typing import Any

from sessions_app.wording.sentences import fill

FACTS = {
    "tokens": "{tokens:,} tokens",
    "unsent": "not sent",
    "changed": "changed",
    "same": "as before",
    "page": "page {page} of {pages}",
    "file": "{path} page {page} of {pages}",
}


def facts(figures: Mapping[str, Any]) -> str:
    """`120 tokens, changed`; a problem comes last."""
    is_sent = bool(figures.get("is_sent"))
    templates = [FACTS["tokens" if is_sent else "unsent"]]
    if is_sent:
        templates.append(FACTS["changed" if figures.get("changed") else "same"])
    if figures.get("pages", 1) > 1:
        templates.append(FACTS["page"])
    found = [fill(each, figures) for each in templates]
    found += [fill(FACTS["file"], file) for file in figures.get("files", ())]
    problem = figures.get("problem")
    return ", ".join(found) + (f". {problem}" if problem else "")
