"""What the five people of `bench people` do, and what the audit log must hold of it.

An entry is written down here when the server has answered, from what was done; nothing of the log is asked.
"""

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx2

from tests.bench.relay_adapters import AnswerFailed
from tests.bench.relay_pipeweb import PipewebConversation, Seat, greeted

PERSONS: dict[str, tuple[tuple[str, ...], bool]] = {
    "root": ((), True),
    "viewer": (("view_",), False),
    "reader": (("view_session", "view_run", "view_exchange", "read_content"), False),
    "ordinary": ((), False),
    "spent": ((), False),
}
"""Name → beginnings of the permissions they have, and whether they have all."""

PAUSE = 0.6
"""Seconds between two acts of a person, about."""

AGAIN, WRONG, PATIENCE = 60.0, 150.0, 60.0
"""Seconds after which somebody signs in anew, types a wrong password, or gives an answer up."""

LISTS = ("session", "run", "exchange", "turn", "booking")
MARK = re.compile(r"mark-([a-z]+)")
TOKEN = re.compile(r'csrfmiddlewaretoken" value="([^"]+)')


class Entry(NamedTuple):
    """One row of the log; `said` are its figures as JSON, left out for sign-ins."""

    action: str
    actor: str
    kind: str
    key: str
    said: str = "{}"


@dataclass(frozen=True, slots=True)
class Scene:
    """By name of a person: the public id of their session, its key, their own key; and one allowance."""

    sessions: dict[str, str]
    keys: dict[str, int]
    people: dict[str, int]
    allowance: int


@dataclass(slots=True)
class Opened:
    """Reasons with which the ordinary person's session was opened, in their order."""

    reasons: list[str] = field(default_factory=list)


def everybody(scene: Scene, port: int) -> "list[Person]":
    opened, kinds = Opened(), {"root": Owner, "viewer": Viewer, "reader": Reader, "spent": Spent}
    return [kinds.get(name, Person)(name, scene, port, opened) for name in PERSONS]


class Person:
    """Chats, exports, looks who read their chats, and tries what is not theirs."""

    def __init__(self, name: str, scene: Scene, port: int, opened: Opened) -> None:
        self.name, self.scene, self.port, self.opened = name, scene, port, opened
        self.done: list[Entry] = []
        self.foreign: list[str] = []
        self.faults: list[str] = []
        self.seen: Counter[str] = Counter()
        self.granted: set[str] = set()
        self.random = random.Random(name)
        self.allowance_percent = 80

    @property
    def acts(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.chat, self.chat, self.export, self.look_who_read, self.try_others)

    async def live(self, seconds: float, least: int) -> None:
        """Acts for so long, and `least` times at least, however slow the server is."""
        origin = f"http://127.0.0.1:{self.port}"
        async with httpx2.AsyncClient(
            base_url=origin, timeout=PATIENCE, headers={"Referer": origin}
        ) as self.client:
            begin = time.monotonic()
            await self.sign_in()
            signed_in, number = begin, 0
            while time.monotonic() < begin + seconds or number < least:
                await self.acts[number % len(self.acts)]()
                number += 1
                if time.monotonic() > signed_in + AGAIN:
                    await self.sign_out()
                    await self.sign_in()
                    signed_in = time.monotonic()
                await asyncio.sleep(PAUSE * self.random.uniform(0.5, 1.5))

    def log(self, action: str, kind: str, key: Any = "", **said: Any) -> None:
        self.done.append(Entry(action, self.name, kind, str(key), json.dumps(said, sort_keys=True)))

    async def ask(self, method: str, path: str, *statuses: int, **data: Any) -> str:
        """The page; a fault where it has another status than one of `statuses`."""
        form = {"csrfmiddlewaretoken": self.client.cookies["pipeweb_csrf"], **data} if data else None
        answer = await self.client.request(method, path, data=form)
        self.seen["requests"] += 1
        if answer.status_code not in statuses:
            self.faults.append(f"{self.name}: {method} {path} answered {answer.status_code}")
        self.check(path, answer.text)
        return answer.text

    def check(self, place: str, text: str) -> None:
        """Whether it says what only somebody else may read."""
        for name in set(MARK.findall(text)):
            if name == self.name:
                self.seen["own texts read"] += 1
            elif name in self.granted:
                self.seen["read with a reason"] += 1
            else:
                self.foreign.append(f"{self.name} read what {name} wrote at {place}")

    async def sign_in(self) -> None:
        await self._type(f"secret of {self.name}", 302)
        self.done.append(Entry("signed_in", self.name, "user", str(self.scene.people[self.name])))

    async def _type(self, password: str, status: int) -> None:
        page = (await self.client.get("/sign-in")).text
        token = TOKEN.search(page)
        data = {"csrfmiddlewaretoken": token[1] if token else "", "username": self.name, "password": password}
        answer = await self.client.post("/sign-in", data=data)
        if answer.status_code != status:
            self.faults.append(f"{self.name}: signing in answered {answer.status_code}")

    async def sign_out(self) -> None:
        await self.ask("POST", "/sign-out", 200, 302, sure="yes")
        self.done.append(Entry("signed_out", self.name, "user", str(self.scene.people[self.name])))

    async def chat(self) -> None:
        """Asks a question and reads the answer to its end."""
        said = await self.send(self.scene.sessions[self.name])
        self.seen["answers" if '"status":"completed"' in said else "refused answers"] += 1

    async def send(self, session: str) -> str:
        seat = Seat(f"pipeweb_session={self.client.cookies['pipeweb_session']}", session)
        socket = await greeted(self.port, seat, asyncio.Semaphore())
        if socket is None:
            return ""
        conversation, frames = PipewebConversation(socket), []
        try:
            frames += [one.decode() async for one in conversation.ask(f"mark-{self.name}: is AA100 late?")]
        except AnswerFailed:
            self.seen["answers that failed"] += 1
        finally:
            await conversation.aclose()
        self.check("the socket", "".join(frames))
        return "".join(frames)

    async def export(self) -> None:
        own = self.scene.sessions[self.name]
        await self.ask("GET", f"/s/{own}/export.json", 200)
        self.log("exported", "session", own, form="json")

    async def look_who_read(self) -> None:
        """Whoever opened the chat before stands on the page now."""
        before = self.opened.reasons[-3:] if self.name == "ordinary" else []
        page = await self.ask("GET", "/account/readings/", 200)
        self.seen["readings seen"] += len(before)
        self.faults += [f"{self.name} does not see “{reason}”" for reason in before if reason not in page]

    async def try_others(self) -> None:
        """What is somebody else's is not there, at any address."""
        for name in PERSONS:
            session = self.scene.sessions[name]
            if name == self.name or name in self.granted:
                continue
            for page in ("", "export.json", "inspect/", "inspect/1/", "account/"):
                await self.ask("GET", f"/s/{session}/{page}", 404)
            if await self.send(session):
                self.foreign.append(f"{self.name} opened the socket of {name}")
        self.seen["rounds of tries"] += 1
        await self.try_admin()

    async def try_admin(self) -> None:
        for place in ("/admin/", "/admin/sessions_app/session/", "/admin/sessions_app/session/csv/"):
            await self.ask("GET", place, 302, 403)


class Spent(Person):
    """Has spent what they may: every message is refused, and one may mistype a password."""

    typed_wrong = 0.0

    @property
    def acts(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.chat, self.mistype, *super().acts[2:])

    async def mistype(self) -> None:
        if time.monotonic() < self.typed_wrong + WRONG:
            return
        self.typed_wrong = time.monotonic()
        await self.sign_out()
        await self._type("a wrong one", 200)
        self.done.append(Entry("sign_in_failed", "", "user", str(self.scene.people[self.name])))
        await self.sign_in()


class Viewer(Person):
    """Sees metadata, and nothing else."""

    @property
    def acts(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.view_list, self.view_row, self.view_csv, self.chat, self.try_content, self.try_others)

    async def try_admin(self) -> None:
        """Theirs to see."""

    async def view_list(self) -> None:
        kind = self.random.choice(LISTS)
        name, value = ("o", "2") if self.random.random() < 0.5 else ("q", "ordinary")
        await self.ask("GET", f"/admin/sessions_app/{kind}/?{name}={value}", 200)
        self.log("staff_viewed", kind, filters=[name])

    async def view_row(self) -> None:
        name = self.random.choice(list(PERSONS))
        await self.ask("GET", f"/admin/sessions_app/session/{self.scene.keys[name]}/change/", 200)
        self.log("staff_viewed", "session", self.scene.sessions[name])

    async def view_csv(self) -> None:
        await self.ask("GET", "/admin/sessions_app/session/csv/", 200)
        self.log("exported", "session", form="csv")

    async def try_content(self) -> None:
        """Neither by a reason, nor by a filter, nor by an action."""
        key, public = self.scene.keys["ordinary"], self.scene.sessions["ordinary"]
        await self.ask("POST", f"/admin/sessions_app/session/{key}/read/", 403, reason="I would like to")
        self.log("content_refused", "session", public)
        await self.ask("GET", "/admin/sessions_app/session/?title__startswith=m", 400)
        chosen = {"action": "export_content", "_selected_action": str(key), "confirmed": "yes"}
        await self.ask("POST", "/admin/sessions_app/session/", 200, 302, reason="I would like to", **chosen)


class Reader(Viewer):
    """May read a session of somebody else after saying why."""

    @property
    def acts(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.view_row, self.read, self.view_row, self.try_others, self.chat)

    async def read(self) -> None:
        """Each page twice: the log has it once for each time that the session was opened."""
        key, public = self.scene.keys["ordinary"], self.scene.sessions["ordinary"]
        reason = f"Ticket {self.name} {len(self.opened.reasons)}: an answer broke off"
        place = f"/admin/sessions_app/session/{key}/read/"
        self.granted.add("ordinary")
        await self.ask("POST", place, 302, reason=reason)
        self.log("content_opened", "session", public, reason=reason, minutes=30)
        self.opened.reasons.append(reason)
        for path, page in (("", "session"), ("inspect/", "exchanges"), ("export.json", "export-json json")):
            for _ in range(2):
                await self.ask("GET", f"/s/{public}/{path}", 200)
                if path == "export.json":
                    self.log("exported", "session", public, form="json", reason=reason)
            self.log("content_read", "session", public, reason=reason, page=page)
        await self.ask("POST", f"/s/{public}/rename/", 404, title="Mine")
        await self.ask("POST", place, 302, close="yes")
        self.granted.discard("ordinary")
        self.log("content_closed", "session", public)
        await self.ask("GET", f"/s/{public}/", 404)


class Owner(Reader):
    """May do everything, and reads nothing without a reason either."""

    @property
    def acts(self) -> Sequence[Callable[[], Awaitable[None]]]:
        return (self.view_list, self.change_limit, self.read, self.act_on_rows, self.try_others, self.chat)

    async def change_limit(self) -> None:
        old, new = self.allowance_percent, 80 + (self.allowance_percent - 79) % 10
        pk, person = self.scene.allowance, self.scene.people["spent"]
        fields = {"owner": person, "usd_per_day": "0.00000001", "counts_emulator": "on", "warn_percent": new}
        await self.ask("POST", f"/admin/sessions_app/allowance/{pk}/change/", 302, **fields)
        self.allowance_percent = new
        self.log("limit_changed", "allowance", pk, changes={"warn_percent": [old, new]})

    async def act_on_rows(self) -> None:
        """Asked first, then carried out: both stand in the log."""
        chosen = {"action": "restore", "_selected_action": str(self.scene.keys["viewer"])}
        for more, status in (({}, 200), ({"confirmed": "yes"}, 302)):
            await self.ask("POST", "/admin/sessions_app/session/", status, **chosen, **more)
            self.log("admin_action", "session", name="restore", count=1)
