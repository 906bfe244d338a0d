"""Which addresses a web page may be fetched from: public ones."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_TRANSLATED = IPv6Network("64:ff9b::/96")
"""NAT64: the last four bytes are an IPv4 address."""

_UNICAST = IPv6Network("2000::/3")
"""All that is given out of IPv6. The rest is of a machine, a site or a network (IPv4 in other prefixes,
segment routing, the NAT64 of an operator), whatever the version of `ipaddress` knows of it.
"""

_DOCUMENTATION = IPv6Network("3fff::/20")
"""Python below 3.13 takes it for global."""


def is_public(address: str) -> bool:
    """Whether a numeric address is one of the public internet, and so is any IPv4 address inside it."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv4Address):
        return _is_public_v4(found)
    inner = _inner(found)
    if inner is not None:
        return _is_public_v4(inner)
    return found in _UNICAST and found.is_global and found not in _DOCUMENTATION


def is_loopback(address: str) -> bool:
    return ip_address(address.partition("%")[0]).is_loopback


def _is_public_v4(address: IPv4Address) -> bool:
    # `is_global` is false for private, loopback, link-local, shared (CGNAT) and reserved addresses.
    return address.is_global and not address.is_multicast


def _inner(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that packets to this address reach."""
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
