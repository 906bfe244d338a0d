"""Folders, in which a person sorts chats."""

import uuid
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Max

from sessions_app.models.personal_limits import lock_person

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

NAME_LENGTH = 60

FOLDER_LIMIT = 100
"""Folders of one person; the sidebar lists all of them."""


class FolderQuerySet(models.QuerySet["Folder"]):
    def of(self, user: "User | AnonymousUser") -> Self:
        """The folders of a person, in the order of the sidebar."""
        return self.filter(owner_id=user.pk)

    @transaction.atomic
    def make(self, owner_id: int, name: str) -> "Folder":
        """A new folder after the others."""
        last = self.filter(owner_id=owner_id).aggregate(last=Max("position"))["last"]
        return self.create(owner_id=owner_id, name=name, position=0 if last is None else last + 1)


class Folder(models.Model):
    """A chat stands in one folder or in none; deleting a folder keeps its chats."""

    public = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="folders")
    name = models.CharField(max_length=NAME_LENGTH)
    position = models.PositiveIntegerField(help_text="Smaller ones stand first.")
    is_collapsed = models.BooleanField(default=False)

    objects = FolderQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]

    def __str__(self) -> str:
        return str(self.public)

    @transaction.atomic
    def move(self, by: int) -> None:
        """Changes places with the neighbour before (-1) or after (1), where both are there."""
        # The person, not the folders: rows that are sorted before they are locked stand as they did before.
        lock_person(self.owner_id)
        folders = list(Folder.objects.filter(owner_id=self.owner_id))
        place = folders.index(self) if self in folders else None
        if place is None or not 0 <= (other := place + by) < len(folders):
            return
        folders[place], folders[other] = folders[other], folders[place]
        for position, folder in enumerate(folders):
            folder.position = position
        Folder.objects.bulk_update(folders, ["position"])
