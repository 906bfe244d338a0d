"""Builds the gateway and the runner of a process from the settings."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

from sessions_app.chat.turn_files import render_files
from sessions_app.context.api_key import keys
from sessions_app.context.outbound import provider_outbound, provider_transport
from sessions_app.emulator import Emulator, EmulatorTransport
from sessions_app.errors import SettingsError
from sessions_app.gemini.gateway import Gateway
from sessions_app.hosts import EMULATOR, GOOGLE
from sessions_app.panels import TOOLBOX
from sessions_app.runs.engine import Engine
from sessions_app.runs.engines import Engines
from sessions_app.runs.processes import Notifier, ProcessLock
from sessions_app.runs.retry_policy import RetryPolicy
from sessions_app.runs.runner import Runner
from sessions_app.runs.writer import Writer

if TYPE_CHECKING:
    from sessions_app.capture.relay import Relay


def build_gateway() -> Gateway:
    """Google's API when there is a key, else the emulator behind the same client; in the set dialect."""
    key = keys.current().text
    if key:
        base_url = settings.GOOGLE_GEMINI_BASE_URL or GOOGLE
        return gateway_class()(api_key=key, base_url=base_url, transport=provider_transport(base_url))
    return build_emulator()


def build_emulator(emulator: Emulator | None = None) -> Gateway:
    """A gateway to an emulator, by default the one of this process."""
    return gateway_class().to_emulator(EmulatorTransport(emulator or process_emulator()))


def gateway_class() -> type[Gateway]:
    if settings.PIPEWEB_DIALECT != "openai":
        return Gateway
    from sessions_app.gemini.openai_gateway import OpenAIGateway

    return OpenAIGateway


@cache
def process_emulator() -> Emulator:
    """One per process, so that its clients share files and caches. Raises SettingsError."""
    try:
        return Emulator(delay=settings.PIPEWEB_EMULATOR_DELAY, recordings=settings.PIPEWEB_REPLAY)
    except ValueError as error:
        raise SettingsError(f"PIPEWEB_REPLAY holds a file that is no recording: {error}.") from None


def build_relay() -> "Relay":
    """For requests of other programs; made with the first of them, since most installations have none."""
    from sessions_app.capture.addresses import AddressBook
    from sessions_app.capture.network import client_to
    from sessions_app.capture.recorder import Recorder
    from sessions_app.capture.recording import Recording, count_missed
    from sessions_app.capture.relay import Relay
    from sessions_app.capture.server_key import ServerKeys
    from sessions_app.capture.upstreams import TransportClient, Upstream
    from sessions_app.models import CaptureAddress

    emulator = TransportClient(EmulatorTransport(process_emulator()))
    base_url = settings.GOOGLE_GEMINI_BASE_URL or GOOGLE
    upstreams: dict[str, Upstream] = {
        CaptureAddress.Upstream.PROVIDER: Upstream(base_url, client_to(base_url, provider_outbound())),
        CaptureAddress.Upstream.EMULATOR: Upstream(EMULATOR, emulator),
    }
    recorder = Recorder(Recording(), count_missed)
    return Relay(upstreams, AddressBook(), recorder, ServerKeys())


def build_runner(gateway: Gateway, retry_policy: RetryPolicy | None = None) -> Runner:
    """One per process; it holds the process's lock file until it is shut down."""
    lock = ProcessLock(settings.PIPEWEB_DATA / "processes")
    notifier = Notifier(lock.key)
    writer = Writer(after_commit=notifier.notify)

    def build_engine(gateway: Gateway) -> Engine:
        toolbox = TOOLBOX.served_by(emulator=gateway.is_emulator)
        return Engine(gateway, toolbox, writer, retry_policy or RetryPolicy(), render_files)

    engines = Engines(build_engine(gateway), EngineRenewal(build_engine))
    return Runner(engines, writer, notifier, lock)


class EngineRenewal:
    """Builds another engine when the API key has changed since the last one."""

    def __init__(self, build_engine: Callable[[Gateway], Engine]) -> None:
        self._build_engine = build_engine
        self._key = keys.current().text

    def __call__(self) -> Engine | None:
        """None while the key is the same."""
        key = keys.current().text
        if key == self._key:
            return None
        engine = self._build_engine(build_gateway())
        self._key = key
        return engine
