"""Who asked the model in a session."""

from django.db import models


class Origin(models.TextChoices):
    """The person in the chat, or another program through an address of theirs."""

    CHAT = "chat"
    CAPTURED = "captured"
