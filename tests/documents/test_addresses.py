import pytest

from sessions_app.documents.addresses import is_public

PRIVATE = (
    "0.0.0.0 10.1.2.3 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 192.168.1.1 100.64.0.1 192.0.2.1 "
    "198.18.0.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd12::1 "
    "ff02::1 2001:db8::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::a00:1 "
    "64:ff9b::7f00:1 2002:a00:1:: 2002:7f00:1:: 64:ff9b:1::a00:1 ::10.0.0.1 ::ffff:0:10.0.0.1 "
    "fec0::1 3fff::1 5f00::1 1::1 8000::1"
)


@pytest.mark.parametrize("address", PRIVATE.split())
def test_private_addresses_of_every_kind(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_public_addresses(address: str) -> None:
    assert is_public(address)
