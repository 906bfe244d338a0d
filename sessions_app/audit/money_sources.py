"""Who counted the tokens of a request, by its route: the provider, or the emulator, which nobody pays."""

from hashlib import sha256

EMULATOR_ADDRESS = "http://emulator.invalid"
EMULATOR_KEY = "emulator"

KEY_HASH = sha256(EMULATOR_KEY.encode()).hexdigest()
EMULATOR_ENDPOINT = sha256(f"{EMULATOR_ADDRESS}\n{KEY_HASH}".encode()).hexdigest()[:16]


def source_of(route: str) -> str:
    if not route:
        return "unknown"
    return "emulator" if route.partition("/")[0] == EMULATOR_ENDPOINT else "provider"
