"""The deployment of the page DEPLOYMENT.md: its own files, with the ports and folders of a test."""

import configparser
import os
import secrets
import shlex
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.conftest import ROOT
from tests.deployment.postgres import Database
from tests.deployment.programs import Program, found, free_port, redis

FILES = ROOT / "sessions_app" / "deployment"
EMULATOR_DELAY = "0.1"
"""Seconds before a chunk; a long answer has about thirty."""

MAIN = """
daemon off;
{user}
pid nginx.pid;
events {{}}
http {{
    include /etc/nginx/mime.types;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include site.conf;
}}
"""
"""What a distribution's /etc/nginx/nginx.conf does around the files of conf.d."""


def adapted(file: str, values: Mapping[str, str]) -> str:
    """A file of the page with its example values replaced; every one of them must be in it."""
    text = (FILES / file).read_text(encoding="utf-8")
    for example, value in values.items():
        assert example in text, f"{file} does not say {example}"
        text = text.replace(example, value)
    return text


class Site:
    """PostgreSQL, Redis, two processes of Pipeweb and nginx. Entering brings all up, leaving ends all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self.plain_port = free_port(), free_port()
        self.certificate = folder / "fullchain.pem"
        self.database = Database()
        self.redis = redis(folder)
        self.environment = self._write_environment()
        self.processes = [self._process(free_port()) for _ in range(2)]
        self.nginx = self._nginx()

    def __enter__(self) -> Self:
        self.database.create()
        try:
            self._certify()
            self.redis.start()
            self._prepare()
            self.ensure()
            self.nginx.start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    @property
    def logs(self) -> str:
        """All that Pipeweb and nginx have written down."""
        return "".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def ensure(self) -> None:
        """Both processes and Redis run, whatever the last test did to them."""
        self.redis.start()
        for process in self.processes:
            process.start()

    def manage(self, *arguments: str, **variables: str) -> None:
        """A command in the environment of the deployment, which must succeed."""
        done = self.run(*arguments, environment=self.environment | variables)
        assert done.returncode == 0, done.stderr

    def run(self, *arguments: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )

    def _write_environment(self) -> dict[str, str]:
        text = adapted(
            "environment",
            {
                "SECRET_KEY=": f"SECRET_KEY={secrets.token_urlsafe(40)}",
                "chat.example.org,": "",
                "https://chat.example.org": self.url,
                "postgres:///pipeweb": self.database.url,
                "127.0.0.1:6379": f"127.0.0.1:{self.redis.port}",
                "/srv/pipeweb/data": str(self.folder / "data"),
            },
        )
        text += f"PIPEWEB_EMULATOR_DELAY={EMULATOR_DELAY}\n"
        (self.folder / "environment").write_text(text)
        lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
        return {"PATH": os.environ["PATH"]} | {name: value for name, _, value in lines}

    def _process(self, port: int) -> Program:
        """One instance of the systemd unit."""
        unit = configparser.ConfigParser(interpolation=None)
        unit.read_string(adapted("pipeweb@.service", {"/srv/pipeweb/app": str(ROOT), "%i": str(port)}))
        service = unit["Service"]
        return Program(
            shlex.split(service["ExecStart"]),
            port,
            self.folder,
            cwd=Path(service["WorkingDirectory"]),
            environment=self.environment,
            umask=int(service["UMask"], 8),
        )

    def _nginx(self) -> Program:
        first, second = (f"127.0.0.1:{process.port}" for process in self.processes)
        site = adapted(
            "nginx.conf",
            {
                "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
                "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port} ssl http2;",
                "chat.example.org": "127.0.0.1",
                "127.0.0.1:8001": first,
                "127.0.0.1:8002": second,
                "/etc/ssl/pipeweb": str(self.folder),
                "/var/log/nginx": str(self.folder),
                "/srv/pipeweb/data": str(self.folder / "data"),
            },
        )
        (self.folder / "site.conf").write_text(site)
        # As root, nginx would work as nobody, who may not enter the folder of a test.
        (self.folder / "nginx.conf").write_text(MAIN.format(user="user root;" if os.geteuid() == 0 else ""))
        command = [found("nginx") or "", "-p", str(self.folder), "-c", "nginx.conf", "-e", "stderr"]
        return Program(command, self.port, self.folder)

    def _certify(self) -> None:
        names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
        files = ["-keyout", str(self.folder / "privkey.pem"), "-out", str(self.certificate)]
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        subprocess.run(
            ["openssl", "req", "-x509", "-days", "1", *key, *names, *files], check=True, capture_output=True
        )

    def _prepare(self) -> None:
        """The script of the page, as the page has it run."""
        values = {
            "/etc/pipeweb/environment": str(self.folder / "environment"),
            "/srv/pipeweb/app": str(ROOT),
        }
        script = self.folder / "prepare.sh"
        script.write_text(adapted("prepare.sh", values))
        done = subprocess.run(
            ["sh", str(script)],
            env={"PATH": os.environ["PATH"]},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _end(self) -> None:
        for program in (self.nginx, *self.processes, self.redis):
            program.stop()
        self.database.drop()
