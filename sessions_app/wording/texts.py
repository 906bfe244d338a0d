"""What is said inside a text of an answer that cannot be shown like others."""

REMARKS = {
    "too_long_to_format": "From here on this text is too long to be formatted; it is shown as written.",
    "too_long_to_show": "The rest is too long to be shown here; the exported file has all of it.",
}
