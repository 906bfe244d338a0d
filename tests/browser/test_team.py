"""The sign-in of a team in a real browser: two steps, devices, closed registration, a provider."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from playwright.async_api import Browser, BrowserContext, Page, expect

from sessions_app.accounts.throttle import ACCOUNT_FAILURES
from tests.browser.conftest import collect_complaints, open_account
from tests.browser.test_chat import open_session
from tests.browser.test_every_page import assert_fits_and_is_accessible
from tests.server import Server, manage
from tests.team.fake_provider import CLIENT, SECRET, FakeProvider, running
from tests.team.people import code_of, earlier_code_of

PASSWORD = "white-rabbit-7"
NAMES = ("ann", "ben", "cyd", "dan")
PEOPLE = f"""
from django.contrib.auth.models import User
from django.contrib.auth.hashers import make_password
for name in {NAMES}: User.objects.create(username=name, password=make_password({PASSWORD!r}))
"""


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with running() as found:
        yield found


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("team")
    variables = {
        "PIPEWEB_ACCOUNTS": "team",
        "PIPEWEB_REGISTRATION": "provider",
        "PIPEWEB_OIDC_ISSUER": provider.url,
        "PIPEWEB_OIDC_CLIENT": CLIENT,
        "PIPEWEB_OIDC_SECRET": SECRET,
        "PIPEWEB_OIDC_NAME": "Example",
    }
    with Server(folder, PIPEWEB_EMULATOR_DELAY="0.01", **variables) as server:
        assert manage(folder, "shell", "--no-imports", "-c", PEOPLE, **variables).returncode == 0
        yield server


@dataclass
class Windows:
    """Browsers of this test, each as another device."""

    browser: Browser
    server: Server
    complaints: list[str]
    opened: list[BrowserContext] = field(default_factory=list)

    async def open(self) -> Page:
        context = await self.browser.new_context(base_url=self.server.url)
        self.opened.append(context)
        collect_complaints(context, self.complaints)
        return await context.new_page()

    async def sign_in(self, name: str, page: Page | None = None) -> Page:
        """The first step."""
        page = page or await self.open()
        await page.goto("/sign-in")
        await page.get_by_label("Username").fill(name)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()
        return page


@pytest_asyncio.fixture(loop_scope="session")
async def windows(browser: Browser, team: Server, complaints: list[str]) -> AsyncIterator[Windows]:
    found = Windows(browser, team, complaints)
    yield found
    for context in found.opened:
        await context.close()
    assert [one for one in complaints if "429" not in one] == []


async def confirm(page: Page) -> None:
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Go on").click()


async def give(page: Page, code: str) -> None:
    await page.get_by_label("Code").fill(code)
    await page.get_by_role("main").get_by_role("button", name="Sign in", exact=True).click()


async def turn_on(page: Page) -> tuple[str, list[str]]:
    """From the menu of the account to the recovery codes; returns the secret and these."""
    await page.goto("/")
    await open_account(page)
    await page.get_by_role("link", name="Security").click()
    await page.get_by_role("link", name="Turn on…").click()
    await confirm(page)
    picture = page.get_by_role("img", name="Picture for the app")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("(image) => image.complete && image.naturalWidth > 0")
    await page.get_by_text("It cannot scan?").click()
    secret = (await page.locator(".secret").inner_text()).replace(" ", "")
    await page.get_by_label("Type the six digits").fill(earlier_code_of(secret))
    await page.get_by_role("button", name="Turn it on").click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    return secret, await page.locator(".codes code").all_inner_texts()


async def test_password_and_code_sign_in_and_a_recovery_code_does_once(windows: Windows) -> None:
    first = await windows.sign_in("ann")
    await first.wait_for_url("**/")
    secret, recovery = await turn_on(first)
    assert len(recovery) == 10
    second = await windows.sign_in("ann")
    await second.wait_for_url("**/sign-in/code/")
    await second.goto("/")
    await expect(second.get_by_role("heading", name="Enter your code")).to_be_visible()
    await second.get_by_role("link", name="Back to sign in").click()
    await expect(second.get_by_role("heading", name="Sign in")).to_be_visible()
    await windows.sign_in("ann", second)
    await give(second, "000000")
    await expect(second.get_by_text("Incorrect code")).to_be_visible()
    await give(second, code_of(secret))
    await second.wait_for_url("**/")
    third = await windows.sign_in("ann")
    await give(third, recovery[0])
    await third.wait_for_url("**/")
    fourth = await windows.sign_in("ann")
    await give(fourth, recovery[0])
    await expect(fourth.get_by_text("Incorrect code")).to_be_visible()


async def test_wrong_codes_are_soon_not_looked_at(windows: Windows) -> None:
    page = await windows.sign_in("ben")
    await page.wait_for_url("**/")
    _, recovery = await turn_on(page)
    other = await windows.sign_in("ben")
    for number in range(ACCOUNT_FAILURES):
        await give(other, f"00000{number}")
        await expect(other.get_by_text("Incorrect code")).to_be_visible()
    await give(other, recovery[0])
    await expect(other.get_by_text("Try again in 5 minutes")).to_be_visible()


async def test_signing_out_everywhere_ends_the_open_chat(windows: Windows) -> None:
    chat = await windows.sign_in("cyd")
    await chat.wait_for_url("**/")
    await open_session(chat)
    other = await windows.sign_in("cyd")
    await other.wait_for_url("**/")
    await other.goto("/account/security/")
    await expect(other.locator(".devices li")).to_have_count(2)
    await expect(other.get_by_text("this device")).to_have_count(1)
    await other.get_by_role("button", name="Sign out everywhere else").click()
    await confirm(other)
    await expect(other.get_by_text("1 other device was signed out.")).to_be_visible()
    await expect(other.locator(".devices li")).to_have_count(1)
    # Nothing is done on the page of the chat: its socket ends, and it says so.
    await expect(chat.get_by_role("link", name="Sign in")).to_be_visible(timeout=20_000)
    await chat.goto("/")
    await expect(chat.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_nobody_makes_an_account_but_by_the_provider(windows: Windows, provider: FakeProvider) -> None:
    page = await windows.open()
    await page.goto("/register/")
    await expect(page.get_by_role("heading", name="made by an administrator")).to_be_visible()
    await assert_fits_and_is_accessible(page)
    provider.person = {
        "sub": "e-1",
        "preferred_username": "eve",
        "email": "eve@example.org",
        "email_verified": True,
    }
    await page.goto("/sign-in")
    await page.get_by_role("link", name="Sign in with Example").click()
    await page.wait_for_url("**/")
    await open_account(page)
    await expect(page.locator(".account-menu .who")).to_contain_text("eve")
    await page.goto("/account/security/provider/")
    await assert_fits_and_is_accessible(page)


async def test_every_page_passes(windows: Windows) -> None:
    """In both schemes and at every width; the fields are reached in order by the keyboard."""
    page = await windows.sign_in("dan")
    await page.wait_for_url("**/")
    await page.goto("/account/security/password/")
    await assert_fits_and_is_accessible(page)
    await page.goto("/account/security/second-step/")
    await assert_fits_and_is_accessible(page)
    await confirm(page)
    await page.wait_for_url("**/second-step/")
    await assert_fits_and_is_accessible(page)
    _, recovery = await turn_on_again(page)
    await assert_fits_and_is_accessible(page)
    for path in ("recovery-codes/", "", "second-step/remove/", "recovery-codes/new/"):
        await page.goto(f"/account/security/{path}")
        await assert_fits_and_is_accessible(page)
    other = await windows.sign_in("dan")
    await other.wait_for_url("**/sign-in/code/")
    await assert_fits_and_is_accessible(other)
    await other.get_by_label("Code").focus()
    await other.keyboard.type(recovery[0])
    await other.keyboard.press("Enter")
    await other.wait_for_url("**/")
    visitor = await windows.open()
    for path in ("/sign-in", "/password/", "/password/1-no-such-link/", "/sign-in/with/cancelled/"):
        await visitor.goto(path)
        await assert_fits_and_is_accessible(visitor)


async def turn_on_again(page: Page) -> tuple[str, list[str]]:
    """On the page that is open."""
    await page.get_by_text("It cannot scan?").click()
    secret = (await page.locator(".secret").inner_text()).replace(" ", "")
    await page.get_by_label("Type the six digits").fill(code_of(secret))
    await page.get_by_role("button", name="Turn it on").click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    return secret, await page.locator(".codes code").all_inner_texts()
