"""The socket of a command that serves, and its address."""

import errno
import ipaddress
import socket

from django.core.management.base import CommandError


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises CommandError when the address is not available."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except (OSError, OverflowError) as error:
        other = "--host 127.0.0.1" if is_of_host(error) else "--port 0"
        raise CommandError(
            f"{host}:{port} cannot be listened on: {reason(error)} Another: {other}"
        ) from error
    return listener


def reason(error: OSError | OverflowError) -> str:
    words = error.strerror if isinstance(error, OSError) else str(error)
    return f"{words or error}.".capitalize()


def is_of_host(error: OSError | OverflowError) -> bool:
    """Whether another port would fail as well: the name is unknown, or the address is not of this machine."""
    return (
        isinstance(error, socket.gaierror | UnicodeError) or getattr(error, "errno", 0) == errno.EADDRNOTAVAIL
    )


def address_of(listener: socket.socket) -> str:
    """The URL of a listening socket; a wildcard address is shown as this machine's."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
