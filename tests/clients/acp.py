"""Gemini CLI as an editor starts it: one process and many prompts, over the Agent Client Protocol."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson


class AcpSession:
    """Entering starts the program and a session in the folder `work`; leaving ends it.

    Messages are JSON-RPC, a line each. No test waits for ever: the program ends with its input, and pytest
    has a limit of its own.
    """

    def __init__(self, command: Sequence[str | Path], work: Path, variables: dict[str, str]) -> None:
        self._command = [str(word) for word in command]
        self._work = work
        self._variables = variables
        self._number = 0
        self._session = ""

    def __enter__(self) -> Self:
        self._errors = (self._work.parent / "acp-errors").open("w+")
        self._process = subprocess.Popen(
            self._command,
            cwd=self._work,
            env=self._variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        files = {"readTextFile": False, "writeTextFile": False}
        self._ask("initialize", protocolVersion=1, clientCapabilities={"fs": files})
        self._session = self._ask("session/new", cwd=str(self._work), mcpServers=[])["sessionId"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._process as process, self._errors:
            assert process.stdin
            process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    def prompt(self, text: str) -> str:
        """Why it stopped."""
        said = [{"type": "text", "text": text}]
        return str(self._ask("session/prompt", sessionId=self._session, prompt=said)["stopReason"])

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(orjson.dumps(message) + b"\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            told = orjson.loads(line)
            if told.get("id") == self._number and "method" not in told:
                assert "result" in told, told
                return dict(told["result"])
        self._errors.seek(0)
        raise AssertionError(f"it ended:\n{self._errors.read()}")
