from django.test import Client

from sessions_app.models import Exchange


def read(client: Client, exchange: Exchange, tab: str = "layers", view: str = "") -> str:
    """The page of one tab as text."""
    response = client.get(exchange.get_absolute_url(), {"tab": tab, "view": view})
    assert response.status_code == 200
    return response.content.decode()
