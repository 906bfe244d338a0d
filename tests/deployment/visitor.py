"""A person in front of the deployment: pages over https, and sockets to a process of choice."""

import asyncio
import json
import re
import uuid
from types import TracebackType
from typing import Any, Self

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.deployment.site import Site

PATIENCE = 90.0
"""Seconds until a reader that hears nothing new gives up."""


class Visitor:
    """Signs in with a password, as a person does, and keeps the cookies."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.client = httpx2.Client(base_url=site.url, verify=site.trust, timeout=90)

    def get(self, path: str) -> httpx2.Response:
        return self.client.get(path)

    def post(self, path: str, **fields: str) -> httpx2.Response:
        token = self.client.cookies.get("pipeweb_csrf") or ""
        return self.client.post(
            path,
            data=fields,
            headers={"X-CSRFToken": token, "Origin": self.site.url, "Referer": self.site.url + path},
        )

    def sign_in(self, name: str, password: str) -> httpx2.Response:
        self.get("/sign-in")
        return self.post("/sign-in", username=name, password=password)

    def new_session(self) -> str:
        """Public id of a session without settings."""
        self.get("/")
        answer = self.post("/new", quick="1")
        match = re.fullmatch(r"/s/([0-9a-f-]{36})/", answer.headers.get("Location", ""))
        assert match, answer.text
        return match[1]

    def reader(self, session: str, process: int | None = None) -> "Reader":
        """A socket through nginx, or straight to one of the processes."""
        cookie = f"pipeweb_session={self.client.cookies.get('pipeweb_session')}"
        if process is None:
            return Reader(self.site.url, session, cookie, ssl=self.site.trust)
        port = self.site.processes[process].port
        # The origin is that of a page over https, which is what cookies of a deployment demand.
        origin = f"https://127.0.0.1:{port}"
        return Reader(f"http://127.0.0.1:{port}", session, cookie, origin=origin)


class Reader:
    """A page that shows one session: it joins what is going on, acknowledges, keeps all it hears."""

    def __init__(self, base: str, session: str, cookie: str, **options: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self._url = f"{base.replace('http', 'ws', 1)}/ws/s/{session}/"
        self._options = {"origin": base, "additional_headers": {"Cookie": cookie}, **options}
        self._news = asyncio.Condition()

    async def __aenter__(self) -> Self:
        self._socket: ClientConnection = await connect(self._url, **self._options)
        hello = json.loads(await self._socket.recv())
        if hello["active_run"]:
            await self.tell(type="join", run=hello["active_run"], after=0)
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)
        await self._socket.close()

    async def tell(self, **command: Any) -> None:
        await self._socket.send(json.dumps(command))

    async def send(self, text: str) -> None:
        await self.tell(type="send", client_id=str(uuid.uuid4()), text=text)

    async def hear(self, kind: str, count: int = 1) -> dict[str, Any]:
        """Waits for `count` events of a kind; the last of them."""
        try:
            async with self._news, asyncio.timeout(PATIENCE):
                await self._news.wait_for(lambda: len(self.of(kind)) >= count)
        except TimeoutError as error:
            raise AssertionError(
                f"{count} × {kind} did not come; the last events: {self.events[-3:]}"
            ) from error
        return self.of(kind)[count - 1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == kind]

    def told_of(self, run: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event.get("run") == run]

    def text_of(self, run: str) -> str:
        deltas = (event for event in self.told_of(run) if event["type"] == "delta")
        return "".join(event["text"] for event in deltas if event["kind"] == "text")

    async def _listen(self) -> None:
        try:
            async for message in self._socket:
                await self._take(json.loads(message))
        except ConnectionClosed:
            return

    async def _take(self, event: dict[str, Any]) -> None:
        if "seq" in event:
            await self.tell(type="ack", run=event["run"], seq=event["seq"])
        async with self._news:
            self.events.append(event)
            self._news.notify_all()


def is_gapless(events: list[dict[str, Any]], first: int) -> bool:
    """Whether the events are numbered from `first` with nothing missing and nothing twice."""
    return [event["seq"] for event in events] == list(range(first, first + len(events)))
