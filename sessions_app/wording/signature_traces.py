"""What a later request did with a signature that an answer brought."""

from sessions_app.prompt.routes import family_of

SAME = {
    "bytes": "The same bytes as received.",
    "refused": "The provider refused the signatures of this request.",
}

DROPPED = {
    "due": "The program dropped it in exchange {number}, from a call of the current turn: the model needs it "
    "there, and newer ones refuse a request without it.",
    "not_due": "The program dropped it in exchange {number}: allowed, since it is of no call of the current "
    "turn that needs one.",
    "unchecked": "The program dropped it in exchange {number}: allowed, since {model} checks no signatures.",
}

MOVED = {
    "part": "Exchange {number} has the same bytes on another part than the one that brought them",
    "order": "Exchange {number} has the same bytes on the same call, which is not the first any more",
    "copy": "Exchange {number} has the same bytes where they came, and this copy on another part.",
    "due": "{what}: the first call of a step of the current turn needs its own signature, and newer models "
    "refuse a request without it.",
    "not_due": "{what}: none is needed there, since it is of no call of the current turn that needs one.",
    "unchecked": "{what}: {model} checks no signatures.",
}

STAND_IN = {
    "sent": "The program sent the documented stand-in in its place in exchange {number}.",
    "ours": "Exchange {number} sent the documented stand-in in its place.",
}

LEFT_OUT = {"turn": "The program sent exchange {number} without this turn, which is allowed."}


def dropped(number: int, route: str, *, is_due: bool, is_checked: bool) -> str:
    key = "due" if is_due else "not_due" if is_checked else "unchecked"
    return DROPPED[key].format(number=number, model=family_of(route))


def moved(number: int, route: str, *, is_first: bool, is_due: bool, is_checked: bool) -> str:
    """`is_first`: another call stands first now, before the one that carries it."""
    key = "due" if is_due else "not_due" if is_checked else "unchecked"
    what = MOVED["order" if is_first else "part"].format(number=number)
    return MOVED[key].format(what=what, model=family_of(route))


def copied(number: int) -> str:
    return MOVED["copy"].format(number=number)


def stand_in(number: int, *, is_captured: bool) -> str:
    return STAND_IN["sent" if is_captured else "ours"].format(number=number)


def left_out(number: int) -> str:
    return LEFT_OUT["turn"].format(number=number)
