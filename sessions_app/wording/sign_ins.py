"""What the pages of signing in say."""

from enum import StrEnum
from math import ceil
from typing import NamedTuple


def throttled(seconds: float) -> str:
    minutes = ceil(seconds / 60)
    unit = "minute" if minutes == 1 else "minutes"
    return f"Too many sign-ins failed, so this one was not tried. Try again in {minutes} {unit}."


class SignInStep(StrEnum):
    """A page of one form, or of none."""

    CODE = "code"
    CONFIRM_PASSWORD = "confirm_password"  # noqa: S105
    CONFIRM_CODE = "confirm_code"
    CHANGE_PASSWORD = "change_password"  # noqa: S105
    SET_PASSWORD = "set_password"  # noqa: S105
    CHOOSE_PASSWORD = "choose_password"  # noqa: S105
    PASSWORD_CHOSEN = "password_chosen"  # noqa: S105
    LINK_ENDED = "link_ended"
    REMOVE_FACTOR = "remove_factor"
    NEW_CODES = "new_codes"
    FORGOTTEN = "forgotten"
    FORGOTTEN_BY_MAIL = "forgotten_by_mail"
    MAIL_SENT = "mail_sent"
    REGISTER = "register"
    CONFIRM_ADDRESS = "confirm_address"
    ADDRESS_LINK_ENDED = "address_link_ended"
    INACTIVE = "inactive"
    ADDRESS_TAKEN = "address_taken"
    PROVIDER_FAILED = "provider_failed"
    PROVIDER_CANCELLED = "provider_cancelled"
    NAME_FOR_PROVIDER = "name_for_provider"


class Words(NamedTuple):
    title: str
    text: str
    button: str
    is_dangerous: bool


STEP_TITLES: dict[str, str] = {
    SignInStep.CODE: "Enter your code",
    SignInStep.CONFIRM_PASSWORD: "Confirm that it is you",
    SignInStep.CONFIRM_CODE: "Confirm that it is you",
    SignInStep.CHANGE_PASSWORD: "Change your password",
    SignInStep.SET_PASSWORD: "Choose a password",
    SignInStep.CHOOSE_PASSWORD: "Choose your password",
    SignInStep.PASSWORD_CHOSEN: "Your password is saved",
    SignInStep.LINK_ENDED: "This link no longer works",
    SignInStep.REMOVE_FACTOR: "Remove the second step",
    SignInStep.NEW_CODES: "Make new recovery codes",
    SignInStep.FORGOTTEN: "Forgotten your password?",
    SignInStep.FORGOTTEN_BY_MAIL: "Forgotten your password?",
    SignInStep.MAIL_SENT: "Look into your mail",
    SignInStep.REGISTER: "Make an account",
    SignInStep.CONFIRM_ADDRESS: "Confirm your e-mail address",
    SignInStep.ADDRESS_LINK_ENDED: "This link no longer works",
    SignInStep.INACTIVE: "This account is closed",
    SignInStep.ADDRESS_TAKEN: "There is an account with your e-mail address",
    SignInStep.PROVIDER_FAILED: "That sign-in did not work",
    SignInStep.PROVIDER_CANCELLED: "You were not signed in",
    SignInStep.NAME_FOR_PROVIDER: "Choose a user name",
}

STEP_TEXTS: dict[str, str] = {
    SignInStep.CODE: (
        "Open the authenticator app on your phone and type the six digits that it shows for "
        "Pipeweb. Without the phone, type one of your recovery codes."
    ),
    SignInStep.CONFIRM_PASSWORD: "Type your password to go on. It holds for five minutes.",
    SignInStep.CONFIRM_CODE: (
        "Type the six digits of your authenticator app, or a recovery code. It holds for five minutes."
    ),
    SignInStep.CHANGE_PASSWORD: "Every other device is signed out.",
    SignInStep.SET_PASSWORD: (
        "You have none yet. With one you can sign in here without a link. Every other device is signed out."
    ),
    SignInStep.CHOOSE_PASSWORD: "Then sign in with it. Every device that was signed in is signed out.",
    SignInStep.PASSWORD_CHOSEN: "Sign in with it now.",
    SignInStep.LINK_ENDED: (
        "It was used already, or is older than three days. Ask whoever gave it to you for another."
    ),
    SignInStep.REMOVE_FACTOR: (
        "Your password alone will let you in. Your recovery codes stop working, and every other "
        "device is signed out."
    ),
    SignInStep.NEW_CODES: "The codes that you have stop working at once.",
    SignInStep.FORGOTTEN: (
        "This installation sends no mail. Ask an administrator for a link with which you choose a "
        "new password. Whoever runs the machine can also use “manage.py changepassword” or "
        "“manage.py link”."
    ),
    SignInStep.FORGOTTEN_BY_MAIL: (
        "Type the e-mail address of your account. You will get a link with which you choose a new password."
    ),
    SignInStep.MAIL_SENT: (
        "If there is an account with this address, a message is on its way. Its link works for "
        "three days. If none comes, ask an administrator."
    ),
    SignInStep.REGISTER: "It is yours alone; nobody else sees your chats.",
    SignInStep.ADDRESS_LINK_ENDED: (
        "It was used already, or is older than three days. Sign in, or ask an administrator to confirm "
        "your address."
    ),
    SignInStep.INACTIVE: "An administrator can open it again. Nothing of it was deleted by that.",
    SignInStep.ADDRESS_TAKEN: (
        "It is not yours for sure, so nothing was connected. Sign in to it with your password and "
        "connect it under “Security”, or ask an administrator to confirm its address."
    ),
    SignInStep.PROVIDER_FAILED: (
        "The provider did not answer as it should, or too much time has passed. Try again; if it "
        "fails again, tell whoever runs this installation."
    ),
    SignInStep.PROVIDER_CANCELLED: "The sign-in was cancelled at the provider.",
    SignInStep.NAME_FOR_PROVIDER: "The provider gave none that is free here.",
}

STEP_BUTTONS: dict[str, str] = {
    SignInStep.CODE: "Sign in",
    SignInStep.CONFIRM_PASSWORD: "Go on",
    SignInStep.CONFIRM_CODE: "Go on",
    SignInStep.CHANGE_PASSWORD: "Change password",
    SignInStep.SET_PASSWORD: "Save password",
    SignInStep.CHOOSE_PASSWORD: "Save",
    SignInStep.REMOVE_FACTOR: "Remove it",
    SignInStep.NEW_CODES: "Make new codes",
    SignInStep.FORGOTTEN_BY_MAIL: "Send the link",
    SignInStep.REGISTER: "Make it",
    SignInStep.CONFIRM_ADDRESS: "Confirm",
    SignInStep.NAME_FOR_PROVIDER: "Make my account",
}


def step_words(step: SignInStep) -> Words:
    """A step without a button has no form."""
    button = STEP_BUTTONS.get(step, "")
    return Words(STEP_TITLES[step], STEP_TEXTS.get(step, ""), button, step == SignInStep.REMOVE_FACTOR)


NOTICES: dict[str, str] = {
    "account/messages/password_changed.txt": "Your password was changed. Other devices are signed out.",
    "account/messages/password_set.txt": "Your password was saved. Other devices are signed out.",
    "mfa/messages/totp_activated.txt": "The second step is on. Other devices are signed out.",
    "mfa/messages/totp_deactivated.txt": "The second step is off. Other devices are signed out.",
    "socialaccount/messages/account_connected.txt": "Connected.",
    "socialaccount/messages/account_connected_other.txt": "That account is connected to somebody else here.",
    "socialaccount/messages/account_disconnected.txt": "Disconnected.",
}
"""allauth's name of a message → ours. What is not here is not said."""


def notice(name: str) -> str:
    return NOTICES.get(name, "")


def ended(devices: int) -> str:
    if not devices:
        return "No other device was signed in."
    return f"{devices:,} other {'device was' if devices == 1 else 'devices were'} signed out."


DEVICE_ENDED = "That device is signed out."
