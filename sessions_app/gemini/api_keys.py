"""What text can be an API key."""

from sessions_app.errors import SettingsError


def checked_key(api_key: str) -> str:
    """The key without blanks around it. Raises SettingsError when it cannot be one."""
    key = api_key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(
            "The API key is empty or has characters that no key has.",
            hint="Set GEMINI_API_KEY to the key alone, or unset it to use the emulator.",
        )
    return key
