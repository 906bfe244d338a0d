"""The matrix of caching, once more on a real PostgreSQL."""

import pytest

from tests.deployment.postgres_run import LIMIT, failures

LEFT_OUT = (
    "matrix/test_matrix.py::test_more_cells",
    *(f"matrix/test_matrix.py::test_long_session[{delay}-" for delay in range(1, 6)),
    "matrix/test_generated.py::test_more_sessions",
)
"""Of the six times that a cache takes to be made, cells run with the first and the last: the others differ in
nothing that a database sees. Long sessions and most of the generated ones run on SQLite only.
"""


@pytest.mark.timeout(LIMIT + 60)
def test_the_matrix_passes_on_postgresql() -> None:
    assert failures(["matrix"], LEFT_OUT) == ""
