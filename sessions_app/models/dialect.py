"""In which format a request travels."""

from django.db import models


class Dialect(models.TextChoices):
    """The format in which a request is sent; it is always prepared in Gemini's."""

    GEMINI = "gemini", "Gemini"
    OPENAI = "openai", "OpenAI-compatible"
