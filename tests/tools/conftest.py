from datetime import UTC, datetime
from pathlib import Path

import pytest

from sessions_app.tools import ToolContext
from sessions_app.workspace import Workspace


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext(
        now=datetime(2026, 1, 2, 15, 4, 5, 678, tzinfo=UTC),
        workspace=Workspace(tmp_path),
        timezone="Europe/Paris",
    )
