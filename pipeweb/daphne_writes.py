"""Writing to a connection of Twisted at once, where nothing waits before it."""

# mypy: disallow-untyped-calls=False

from typing import Any

from twisted.internet.tcp import Connection


def write_now(transport: Any, data: bytes) -> bool:
    """Twisted would ask first whether there is room: two rounds of the loop more. What does not fit waits as
    usual. False, and nothing is written, where the transport is no plain connection: TLS, or one that ends.
    """
    if not isinstance(transport, Connection) or not transport.connected or transport.disconnecting:
        return False
    sent = 0
    if not (transport.dataBuffer or transport._tempDataBuffer):
        written = transport.writeSomeData(data)
        sent = written if isinstance(written, int) else 0
    if sent < len(data):
        transport.write(data[sent:])
    return True
