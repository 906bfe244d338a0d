"""Files at the provider are deleted when their session is erased here."""

from io import BytesIO

import pytest
from django.contrib.auth.models import User

from sessions_app.database import database_sync_to_async
from sessions_app.emulator.service import Emulator
from sessions_app.emulator.transport import EmulatorTransport
from sessions_app.errors import BadRequest
from sessions_app.gemini.gateway import Gateway
from sessions_app.models import Attachment, ProviderFileRemoval, Session
from sessions_app.runs.file_removal import remove_files
from tests.factories import make_session

ELSEWHERE = "https://x.example/v1beta/files/abc"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def emulator() -> Emulator:
    return Emulator()


@pytest.fixture
def gateway(emulator: Emulator) -> Gateway:
    return Gateway(api_key="a-long-enough-key", transport=EmulatorTransport(emulator))


def attached(owner: User, uri: str, route: str) -> Session:
    session = make_session(owner)
    file = Attachment.objects.add(session, name="a.pdf", mime="application/pdf", file=BytesIO(b"%PDF-"))
    file.set_copy(uri, route, None)
    return session


async def test_a_file_of_an_erased_session_is_gone_at_the_provider(alice: User, gateway: Gateway) -> None:
    kept = await gateway.upload_file(b"%PDF-1", mime="application/pdf", name="a.pdf")
    session = await database_sync_to_async(attached)(alice, kept.uri, gateway.route)
    assert await remove_files(gateway) == 0
    await database_sync_to_async(session.erase)()
    assert await remove_files(gateway) == 1
    assert not await database_sync_to_async(ProviderFileRemoval.objects.exists)()
    with pytest.raises(BadRequest):
        await gateway.delete_file(kept.uri)


async def test_what_the_provider_no_longer_has_is_done_with(alice: User, gateway: Gateway) -> None:
    session = await database_sync_to_async(attached)(
        alice, "https://x.example/v1beta/files/abc", gateway.route
    )
    await database_sync_to_async(session.erase)()
    assert await remove_files(gateway) == 1


async def test_a_file_of_another_endpoint_waits_for_it(alice: User, gateway: Gateway) -> None:
    session = await database_sync_to_async(attached)(alice, ELSEWHERE, "elsewhere")
    await database_sync_to_async(session.erase)()
    assert await remove_files(gateway) == 0
    assert await database_sync_to_async(ProviderFileRemoval.objects.count)() == 1
