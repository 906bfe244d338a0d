"""The renderer: results as in this process, limits, what is remembered, and whom nobody waits for."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions_app.prompt import templates
from sessions_app.prompt.sandbox import environment
from sessions_app.prompt.templates import Rendered, RenderFailure, Unrendered
from sessions_app.rendering import renderer as renderers
from sessions_app.rendering.renderer import Renderer, RenderTime
from tests.prompt.test_templates import BROKEN, ORIGINAL
from tests.rendering.hostile import VALUES, hostile_templates

ROOT = Path(__file__).resolve().parents[2]
MARGIN = 0.25
"""Seconds that a busy machine may take to end a worker."""


def one(renderer: Renderer, text: str, values: Any = (), owner: int = 1) -> Rendered:
    (rendered,) = renderer.render([Unrendered(text)], dict(values), owner=owner)
    return rendered


def patient() -> Renderer:
    """One that waits for a busy machine."""
    return Renderer(seconds=20)


@pytest.fixture(scope="module")
def calm() -> Any:
    renderer = patient()
    yield renderer
    renderer.close()


@pytest.mark.parametrize(("template", "values", "text"), ORIGINAL)
def test_a_worker_renders_as_this_process(
    calm: Renderer, template: str, values: dict[str, Any], text: str
) -> None:
    rendered = one(calm, template, values)
    assert rendered == templates.render(template, values)
    assert rendered.text == text


@pytest.mark.parametrize("template", [text for text, _, _ in BROKEN])
def test_a_worker_fails_as_this_process(calm: Renderer, template: str) -> None:
    values = {"name": "Ann", "args": {}}
    assert one(calm, template, values) == templates.render(template, values)


@pytest.mark.parametrize("name", sorted(environment().filters))
def test_no_filter_needs_what_a_worker_cannot_open(calm: Renderer, name: str) -> None:
    if name.isidentifier():
        for value in ("'a b'", "[3, 1]", "{'a': 1}", "1.5", "nope"):
            text = f"{{{{ {value}|{name} }}}}"
            assert one(calm, text) == templates.render(text, {})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), json_values), st.lists(st.text(max_size=8), max_size=3)
)
def test_what_travels_arrives_unchanged(calm: Renderer, values: dict[str, Any], texts: list[str]) -> None:
    written = [Unrendered(f"{text}{{{{ a }}}}{{{{ b|json }}}}", {"c": 1}) for text in texts]
    assert calm.render(written, values, owner=1) == tuple(
        templates.render(each.text, values, each.defaults) for each in written
    )


def test_a_text_without_syntax_costs_no_worker(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderers, "WorkerProcess", None)
    assert one(renderer, '{"a": {"b": 1}}') == Rendered('{"a": {"b": 1}}')
    assert renderer.render([], {}, owner=1) == ()


def test_texts_and_arguments_that_are_too_large_are_not_sent(calm: Renderer) -> None:
    large = {"a": ["x" * 1_000] * 2_000}
    rendered = one(calm, "{{ b }}", large)
    assert (rendered.status, rendered.failure) == ("fallback", RenderFailure.TOO_LARGE)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert one(calm, "{{ b }}", {"a": deep}).failure == RenderFailure.TOO_LARGE


def test_no_hostile_template_holds_the_process(renderer: Renderer) -> None:
    renderer.start()
    assert len(dict(hostile_templates())) >= 126
    before = memory_of(os.getpid())
    slow = []
    for owner, (name, text) in enumerate(hostile_templates()):
        rendered, spent = timed(renderer, text, owner)
        # A busy machine delays anything once.
        if spent > renderer.seconds + MARGIN and timed(renderer, text, -owner)[1] > renderer.seconds + MARGIN:
            slow.append((name, spent))
        assert rendered.status == "rendered" or rendered.text == text, name
        told = rendered.text.replace(text, "")
        assert "class" not in told and "root:" not in told and "<" not in told.replace("&lt;", ""), name
    assert slow == []
    assert memory_of(os.getpid()) - before < 64_000_000


def timed(renderer: Renderer, text: str, owner: int) -> tuple[Rendered, float]:
    spent = RenderTime()
    (rendered,) = renderer.render([Unrendered(text)], VALUES, owner=owner, time=spent)
    return rendered, spent.spent


def memory_of(pid: int) -> int:
    """Bytes that are resident."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


BUSY = "{{ [None for _ in iter(int, 1)] and 0 if 0 else sum(iter(lambda: 0, 1)) }}"
ASLEEP = "{{ time.sleep(60) }}"


def test_a_text_that_computes_for_too_long_is_ended_and_remembered(escaped: Renderer) -> None:
    written = [Unrendered("{{ 1 }}"), Unrendered(BUSY), Unrendered("{{ 3 }}")]
    first, busy, last = escaped.render(written, {}, owner=1)
    assert first == Rendered("1", "rendered")
    assert (busy.text, busy.status, busy.failure, busy.limit) == (BUSY, "fallback", "too_slow", 1.0)
    assert (last.status, last.failure) == ("fallback", RenderFailure.NO_TIME)
    spent = RenderTime()
    again = escaped.render(written, {}, owner=1, time=spent)
    assert [each.failure for each in again] == [None, "too_slow", None]
    assert spent.spent < escaped.seconds


def test_a_refusal_holds_for_the_person_whose_arguments_caused_it(escaped: Renderer) -> None:
    text = "{{ sum(iter(lambda: values['n'], 1)) }}"
    assert one(escaped, text, {"n": 0}).failure == RenderFailure.TOO_SLOW
    assert one(escaped, text, {"n": 1}).failure == RenderFailure.TOO_SLOW
    assert one(escaped, text, {"n": 1}, owner=2).text == "0"


def test_a_refusal_ends(escaped: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "{{ sum(iter(lambda: values['n'], 1)) }}"
    assert one(escaped, text, {"n": 0}).failure
    monkeypatch.setattr(renderers, "monotonic", lambda: time.monotonic() + renderers.REFUSED_SECONDS + 1)
    assert one(escaped, text, {"n": 1}).failure != RenderFailure.TOO_SLOW


def test_a_text_that_the_machine_had_no_time_for_is_not_remembered(escaped: Renderer) -> None:
    assert one(escaped, ASLEEP).failure == RenderFailure.NO_TIME
    assert escaped._refused == {}


def test_the_texts_of_a_request_share_its_time(escaped: Renderer) -> None:
    spent = RenderTime()
    (first,) = escaped.render([Unrendered(BUSY)], {}, owner=1, time=spent)
    (second,) = escaped.render([Unrendered("{{ 2 }}")], {}, owner=1, time=spent)
    assert (first.failure, second.failure) == (RenderFailure.TOO_SLOW, RenderFailure.NO_TIME)
    assert spent.spent < escaped.seconds + MARGIN


ESCAPES: dict[str, tuple[str, Callable[[Rendered], bool]]] = {
    "memory": ("{{ bytearray(80_000_000) }}", lambda seen: seen.failure == RenderFailure.TOO_MUCH_MEMORY),
    "its end": ("{{ os._exit(0) }}", lambda seen: seen.failure == RenderFailure.TOO_MUCH_MEMORY),
    "a crash": (
        "{{ os.kill(os.getpid(), signal.SIGSEGV) }}",
        lambda seen: seen.failure == RenderFailure.TOO_MUCH_MEMORY,
    ),
    "a file": ("{{ open('/etc/passwd') }}", lambda seen: "Too many open files" in seen.reason),
    "a socket": ("{{ socket.socket() }}", lambda seen: "Too many open files" in seen.reason),
    "the environment": ("{{ dict(os.environ) }}", lambda seen: "SECRET" not in seen.text),
    "no frame": ("{{ os.write(0, b'\\xff' * 100) }}", lambda seen: seen.status == "fallback"),
    "a frame that is no result": (
        "{{ os.write(0, b'\\0\\0\\0\\2{}') }}",
        lambda seen: seen.status == "fallback",
    ),
    "a frame nested deeply": (
        "{{ os.write(0, (100000).to_bytes(4, 'big') + b'[' * 100000) }}",
        lambda seen: seen.status == "fallback",
    ),
    "half a frame": (
        "{{ os.write(0, b'\\0\\0') and time.sleep(9) }}",
        lambda seen: seen.status == "fallback",
    ),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_what_leaves_the_sandbox_gains_nothing(
    escaped: Renderer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "SECRET")
    text, holds = ESCAPES[name]
    spent = RenderTime()
    (seen,) = escaped.render([Unrendered(text)], {}, owner=1, time=spent)
    assert holds(seen), seen
    assert spent.spent < escaped.seconds + MARGIN
    assert one(escaped, "{{ 1 + 1 }}").text == "2"


def test_nobody_waits_for_the_text_of_another(escaped: Renderer) -> None:
    one(escaped, "{{ 1 }}")
    for worker in list(escaped._idle):
        worker.await_start()
    hostile = Thread(target=one, args=(escaped, BUSY))
    hostile.start()
    time.sleep(0.02)
    began = time.monotonic()
    assert one(escaped, "{{ 1 + 1 }}", owner=2).text == "2"
    is_waiting, took = hostile.is_alive(), time.monotonic() - began
    hostile.join()
    assert is_waiting or took < escaped.seconds


def test_a_person_takes_one_worker_at_a_time(escaped: Renderer) -> None:
    hostile = [Thread(target=one, args=(escaped, f"{BUSY}{' ' * n}")) for n in range(12)]
    for thread in hostile:
        thread.start()
    time.sleep(0.02)
    assert one(escaped, "{{ 1 + 1 }}", owner=2).text == "2"
    for thread in hostile:
        thread.join()
    assert escaped._rendering == set()


def test_many_threads_share_few_workers(calm: Renderer) -> None:
    seen: list[str] = []
    threads = [
        Thread(target=lambda n=n: seen.append(one(calm, "{{ n }}", {"n": n}, owner=n).text))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, seen)) == list(range(20))
    assert len(calm._idle) <= renderers.IDLE_WORKERS


def test_a_worker_that_does_not_start_leaves_the_text_as_it_was(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.rendering.process._COMMAND", (sys.executable, "-c", "pass"))
    rendered = one(renderer, "{{ 1 }}")
    assert (rendered.text, rendered.failure) == ("{{ 1 }}", RenderFailure.NO_TIME)


def test_a_worker_that_was_killed_while_idle_costs_nobody_a_text(calm: Renderer) -> None:
    assert one(calm, "{{ 1 }}").text == "1"
    for worker in calm._idle:
        os.kill(worker.pid, signal.SIGKILL)
        while worker.is_alive:
            time.sleep(0.01)
    assert one(calm, "{{ 1 }}").text == "1"


def test_a_worker_imports_the_sandbox_only() -> None:
    code = "import sys, sessions_app.rendering.worker; print(*sorted(sys.modules))"
    modules = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()
    ours = {name for name in modules if name.startswith("sessions_app.")}
    assert not {"django", "pydantic", "asyncio", "socket", "google", "orjson"} & set(modules)
    assert {name.split(".")[1] for name in ours} == {"prompt", "rendering"}


@pytest.mark.slow
def test_a_worker_ends_with_its_server() -> None:
    code = (
        "import os, signal, sys; from sessions_app.rendering.process import WorkerProcess;"
        "worker = WorkerProcess(); worker.await_start(); print(worker.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    worker = Path(f"/proc/{int(found.stdout)}/cmdline")
    deadline = time.monotonic() + 60
    while worker.exists() and b"rendering.worker" in worker.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)
