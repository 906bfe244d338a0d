"""What is stored in settings and not known to this version."""

import json
from collections.abc import Iterable
from typing import Any

LONGEST = 80
"""Characters shown of one value."""


def unknown_part(title: str, values: Iterable[Any]) -> str:
    """One line: the setting, and what it holds beside what is known."""
    return f"{title}: {', '.join(map(_shown, values))}"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"“{text if len(text) <= LONGEST else text[: LONGEST - 1] + '…'}”"
