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
    "regrouped": "Exchange {number} has the same bytes on the same call, which the program put into another "
    "turn.",
    "due": "{what}: the first call of a step of the current turn needs its own signature, and newer models "
    "refuse a request without it.",
    "not_due": "{what}: none is needed there, since it is of no call of the current turn that needs one.",
    "unchecked": "{what}: {model} checks no signatures.",
}

STAND_IN = {
    "sent": "The program sent the documented stand-in in its place in exchange {number}.",
    "ours": "Exchange {number} sent the documented stand-in in its place.",
}

FOREIGN_TO_TURN = {
    "stand_in": "The documented stand-in. {why}",
    "lost": "The call's own signature was lost, or is of another model, key or address.",
    "program": "The program put it there.",
    "untraced": "No exchange of this session produced this turn.",
    "altered": "Exchange {number} received other bytes.",
    "added": "Exchange {number} received no signature.",
    "of_another": "{otherwise} These came in exchange {came_in}, with another turn.",
}

UNSENT = "Received, and not in this request."

NOT_KEPT = {
    "no_turn": "The reply was not kept as a turn, so there is nothing to send it back with.",
    "folded": "The stored turn does not carry it: it was lost when the reply was folded.",
    "nothing_later": "No later exchange continues this branch yet.",
}

SENT_BACK = {
    "once": "Sent back byte for byte in 1 exchange.",
    "often": "Sent back byte for byte in {count} exchanges.",
}

FROM_ELSEWHERE = "No exchange of this session received it. {otherwise}"

CUT_OFF = "The answer was cut off; half a call is not kept."

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


def regrouped(number: int) -> str:
    return MOVED["regrouped"].format(number=number)


def stand_in(number: int, *, is_captured: bool) -> str:
    return STAND_IN["sent" if is_captured else "ours"].format(number=number)


def left_out(number: int) -> str:
    return LEFT_OUT["turn"].format(number=number)


def put_in(why: str, *, is_captured: bool) -> str:
    """The stand-in of a call of this request; `why` is the reason that was noted, if any."""
    known = why or FOREIGN_TO_TURN["program" if is_captured else "lost"]
    return FOREIGN_TO_TURN["stand_in"].format(why=known)


def untraced(came_in: int | None = None) -> str:
    return _of_another(FOREIGN_TO_TURN["untraced"], came_in)


def altered(number: int, *, had_any: bool, came_in: int | None = None) -> str:
    """`came_in` is the exchange whose answer brought the bytes, for another turn."""
    return _of_another(FOREIGN_TO_TURN["altered" if had_any else "added"].format(number=number), came_in)


def _of_another(said: str, came_in: int | None) -> str:
    return said if came_in is None else FOREIGN_TO_TURN["of_another"].format(otherwise=said, came_in=came_in)


def from_elsewhere(otherwise: str) -> str:
    return FROM_ELSEWHERE.format(otherwise=otherwise)


def sent_back(count: int) -> str:
    return SENT_BACK["once" if count == 1 else "often"].format(count=count)
