"""Histories of every shape that a request may have to carry."""

import base64
import random
import uuid

from sessions_app.prompt.turns import Turn as TurnValue
from sessions_app.prompt.turns import TurnKind, user_task
from tests.prompt import examples
from tests.prompt.examples import text


def random_history(chance: random.Random, route: str) -> list[TurnValue]:
    """Messages, rounds of parallel calls and answers, of several routes, signed and unsigned."""
    turns: list[TurnValue] = []

    def key() -> str:
        return str(uuid.UUID(int=chance.getrandbits(128)))

    def signature() -> str:
        return base64.b64encode(chance.randbytes(90)).decode() if chance.random() < 0.8 else ""

    def model(kind: TurnKind, *parts: dict[str, object]) -> TurnValue:
        home = chance.choice([route, route, "0123456789abcdef/gemini-3-flash", ""])
        return TurnValue(key(), kind, examples.content("model", *parts), home)

    for _ in range(chance.randint(1, 4)):
        turns.append(user_task(key(), "Go on."))
        for _ in range(chance.randint(0, 3)):
            names = [f"f{number}" for number in range(chance.randint(1, 3))]
            calls = [examples.call(name, signature() if not at else "") for at, name in enumerate(names)]
            turns.append(model(TurnKind.FUNCTION_CALLING, *calls))
            turns.append(examples.answers(key(), *names))
        thought = [text("Hm.", thought=True)] if chance.random() < 0.3 else []
        tail = [text("", thoughtSignature=signed)] if (signed := signature()) else []
        turns.append(model(TurnKind.MODEL_RESPONSE, *thought, text("Well."), *tail))
    return turns
