"""Everything that touches rows, once more, on a real PostgreSQL."""

import pytest

from tests.deployment.postgres_run import LIMIT, failures

FOLDERS = (
    *(
        "accounts",
        "admin",
        "backups",
        "models",
        "test_database.py",
        "test_search.py",
        "chat/test_transfer.py",
        "chat/test_imports.py",
        "chat/test_hostile_values.py",
        "test_values.py",
        "chat/test_history_branches.py",
    ),
    *("capture/test_recording.py", "capture/test_server_key.py", "capture/test_captured_answer.py"),
    *(
        "capture/test_regrouping.py",
        "capture/test_known_groupings.py",
        "capture/test_client_caches.py",
        "capture/test_repeated_caches.py",
    ),
    *("capture/test_har_imports.py", "chat/test_folders.py", "runs/test_locks.py"),
    *("context/test_personal_limits.py", "context/test_storage.py", "chat/test_sockets.py"),
    *("panels", "inspector/test_views.py", "runs/test_engine.py", "runs/test_cache_lifecycle.py"),
    "runs/test_cache_bookings.py",
    *(
        "runs/test_processes.py",
        "runs/test_budgets.py",
        "runs/test_cache_rollover.py",
        "runs/test_cache_processes.py",
        "runs/test_run_poller.py",
        "runs/test_tool_rounds.py",
        "runs/test_personal_limits.py",
        "runs/test_fault_histories.py",
        "runs/test_poisoned_rows.py",
        "runs/test_odd_strings.py",
        "runs/test_waited_locks.py",
        "runs/test_turn_cost.py",
    ),
)
"""What reads and writes rows in its own way; everything twice would take half of the suite's time."""

LEFT_OUT = (
    "admin/test_sweep.py",
    "runs/test_fault_histories.py::test_more_of_history",
    *("accounts/test_team.py", "accounts/test_team_rows.py"),
)
"""The slow histories run on SQLite only, and so does the search of the admin's pages for texts: other tests
open them here. What a team's sign-in needs has a test of its own below.
"""


@pytest.mark.timeout(LIMIT + 60)
def test_every_test_of_rows_passes_on_postgresql() -> None:
    told = failures(FOLDERS, LEFT_OUT)
    assert not told, told


@pytest.mark.timeout(LIMIT + 60)
def test_the_sign_in_of_a_team_passes_on_postgresql() -> None:
    paths = ("team", "accounts/test_erasure.py")
    told = failures(paths, PIPEWEB_ACCOUNTS="team")
    assert not told, told
