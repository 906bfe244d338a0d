"""Forms of capture: a new address; sessions joined and split."""

from datetime import timedelta

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict

from sessions_app.capture.regrouping import join, split
from sessions_app.models import CaptureAddress, Session
from sessions_app.models.capture_address import LIFETIME, NAME_LENGTH

_DAYS = ((1, "1 day"), (30, "30 days"), (LIFETIME.days, f"{LIFETIME.days} days"), (0, "until it is revoked"))


class AddressForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=NAME_LENGTH,
        help_text="What you call it: a program, a machine, an experiment.",
    )
    upstream = forms.ChoiceField(
        label="Leads to",
        choices=CaptureAddress.Upstream.choices,
        help_text="Google gets the program's own key. The emulator costs nothing and takes any key.",
    )
    days = forms.TypedChoiceField(label="Ends", coerce=int, choices=_DAYS, initial=LIFETIME.days)

    @property
    def lifetime(self) -> timedelta | None:
        days: int = self.cleaned_data["days"]
        return timedelta(days=days) if days else None


class RegroupForm(forms.Form):
    """Either the number of a request to split at, or another session to join with."""

    split = forms.IntegerField(required=False, min_value=1)
    other = forms.ModelChoiceField(Session.objects.none(), required=False, to_field_name="public")

    def __init__(self, data: QueryDict, *, sessions: QuerySet[Session]) -> None:
        super().__init__(data)
        field = self.fields["other"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = sessions

    def apply(self, session: Session) -> Session:
        """Returns the session to show then. Raises NotRegrouped."""
        if self.cleaned_data["split"]:
            return split(session, self.cleaned_data["split"])
        if self.cleaned_data["other"]:
            join(session, self.cleaned_data["other"])
        return session
