"""Files at the provider that nothing here names any more."""

from datetime import timedelta
from typing import Self

from django.db import models
from django.db.models import QuerySet
from django.utils import timezone

from sessions_app.models.attachment import Attachment

PROVIDER_KEEPS = timedelta(days=2)
"""After this the provider has deleted a file by itself (gemini-wire §2)."""


class ProviderFileRemovalQuerySet(models.QuerySet["ProviderFileRemoval"]):
    def request(self, attachments: QuerySet[Attachment]) -> None:
        """Call it before the rows of these attachments are deleted: two statements."""
        copies = attachments.exclude(uri="").values_list("uri", "route")
        self.bulk_create([self.model(uri=uri, route=route) for uri, route in copies])

    def due(self, route: str) -> Self:
        """Those that were sent through this endpoint, as long as the provider may have them."""
        return self.filter(route=route, requested_at__gt=timezone.now() - PROVIDER_KEEPS)

    def forget_expired(self) -> None:
        """Deletes the rows of files that the provider no longer has."""
        self.filter(requested_at__lte=timezone.now() - PROVIDER_KEEPS).delete()


class ProviderFileRemoval(models.Model):
    """A file that `runs.file_removal` deletes at the provider. Its address says nothing of its content."""

    uri = models.CharField(max_length=300)
    route = models.CharField(max_length=64)
    requested_at = models.DateTimeField(auto_now_add=True)

    objects = ProviderFileRemovalQuerySet.as_manager()

    def __str__(self) -> str:
        return self.uri
