from django.test import Client
from django.urls import reverse

from sessions_app.models import Exchange, Session


def read(client: Client, exchange: Exchange, tab: str = "layers", view: str = "") -> str:
    """The page of one tab as text."""
    response = client.get(exchange.get_absolute_url(), {"tab": tab, "view": view})
    assert response.status_code == 200
    return response.content.decode()


def read_list(client: Client, session: Session, **params: str | int) -> str:
    """The page of the list of exchanges as text."""
    return client.get(reverse("exchanges", args=[session.public]), params).content.decode()
