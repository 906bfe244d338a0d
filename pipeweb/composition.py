"""Where the parts are put together: which gateway, which tools, one runner per process."""

from functools import cache

from django.conf import settings

from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.gemini.gateway import GOOGLE, Gateway
from sessions_app.gemini.openai_gateway import OpenAIGateway
from sessions_app.runs.bell import Bell
from sessions_app.runs.engine import Engine
from sessions_app.runs.patience import Patience
from sessions_app.runs.presence import Presence
from sessions_app.runs.runner import Runner
from sessions_app.runs.writer import Writer
from sessions_app.tools import TOOLBOX


def build_gateway() -> Gateway:
    """Google's API when there is a key, else the emulator behind the same client; in the set dialect."""
    if settings.GEMINI_API_KEY:
        door = gateway_class()
        return door(api_key=settings.GEMINI_API_KEY, base_url=settings.GOOGLE_GEMINI_BASE_URL or GOOGLE)
    return build_emulator()


def build_emulator(emulator: Emulator | None = None) -> Gateway:
    """A client before an emulator, by default the one that this process keeps."""
    return gateway_class().to_emulator(EmulatorTransport(emulator or own_emulator()))


def gateway_class() -> type[Gateway]:
    return OpenAIGateway if settings.PIPEWEB_DIALECT == "openai" else Gateway


@cache
def own_emulator() -> Emulator:
    """One per process: what one client caches there, the other finds."""
    return Emulator(delay=settings.PIPEWEB_EMULATOR_DELAY, recordings=settings.PIPEWEB_REPLAY)


def build_runner(gateway: Gateway, patience: Patience | None = None) -> Runner:
    """One per process; it holds the process's lock file until it is shut down."""
    bell = Bell()
    writer = Writer(after_commit=bell.ring)
    engine = Engine(gateway, TOOLBOX, writer, patience or Patience())
    return Runner(engine, writer, bell, Presence(settings.PIPEWEB_DATA / "processes"))
