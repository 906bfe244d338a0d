import pytest

from sessions_app.emulator import Emulator


@pytest.fixture
def emulator() -> Emulator:
    return Emulator(delay=0)
