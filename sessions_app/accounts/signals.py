"""What is done with all that a person has: the one place where a log of it can listen.

Senders pass `person` (the primary key) and `by` (that of who did it; None for a command), and no content.
"""

from django.dispatch import Signal

person_erased = Signal()
"""Sent after the last row is gone."""

data_exported = Signal()
"""Sent when a full export begins."""
