"""Settings: types, errors, secrets, and their table in README.md."""

import ast
import os
import re
import urllib.request
from pathlib import Path

import pytest

from pipeweb.environment import (
    ENOUGH,
    MODEL_LIMIT,
    POSTGRES,
    SQLITE,
    Environment,
    check_secret,
    kept_secret,
    make_secret,
)
from pipeweb.settings import BASE_URL_LIMIT
from sessions_app.errors import SettingsError
from sessions_app.models import Exchange
from tests.conftest import ROOT
from tests.server import Server, manage


def test_the_readme_lists_the_variables_that_the_settings_read() -> None:
    tree = ast.parse((ROOT / "pipeweb/settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    reads = [call for call in calls if ast.unparse(call.func).startswith("environment.")]
    read = {ast.literal_eval(call.args[0]) for call in reads} - {"PIPEWEB_"}
    listed = set(re.findall(r"^\| `([A-Z_]+)` \|", (ROOT / "README.md").read_text(), re.M))
    assert read - listed == set(), "README.md lacks a row for these"
    assert listed - read == set(), "pipeweb/settings.py does not read these"


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("On", True), ("no", False), ("FALSE", False)])
def test_a_flag_is_on_or_off(value: str, expected: bool) -> None:
    assert Environment({"DEBUG": value}).flag("DEBUG", default=not expected) is expected


def test_a_flag_that_is_neither_is_refused() -> None:
    with pytest.raises(SettingsError, match="DEBUG is 'maybe'; it can be on or off"):
        Environment({"DEBUG": "maybe"}).flag("DEBUG", default=True)


def test_an_empty_variable_counts_as_unset() -> None:
    assert Environment({"DEBUG": " "}).flag("DEBUG", default=True)


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "1e9", "fast", "1.2.3"])
def test_a_number_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="must be a number"):
        Environment({"DELAY": value}).number("DELAY", 1)


def test_a_list_drops_blanks() -> None:
    assert Environment({"HOSTS": "a, ,b,"}).names("HOSTS", ["c"]) == ["a", "b"]
    assert Environment({}).names("HOSTS", ["c"]) == ["c"]


@pytest.mark.parametrize(
    "value", ["localhost:6379", "http://", "ftp://host", "http://host:99999", "http://[::1"]
)
def test_a_url_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="must be a URL"):
        Environment({"BASE": value}).url("BASE", ("http", "https"))


def test_a_url_that_a_row_cannot_hold_is_refused() -> None:
    value = "https://host/" + "p" * 20
    assert Environment({"BASE": value}).url("BASE", ("https",), longest=len(value)) == value
    with pytest.raises(SettingsError, match="BASE has 33 characters; it can have 32"):
        Environment({"BASE": value}).url("BASE", ("https",), longest=32)


def test_the_longest_base_url_and_model_fit_into_their_columns() -> None:
    limits = {"base_url": BASE_URL_LIMIT, "model": MODEL_LIMIT}
    columns = [field for field in Exchange._meta.concrete_fields if field.name in limits]
    assert {column.name: column.max_length for column in columns} == limits


def test_an_origin_without_its_scheme_is_refused() -> None:
    assert Environment({"ORIGINS": "https://a.example"}).origins("ORIGINS") == ["https://a.example"]
    with pytest.raises(SettingsError, match=r"'a\.example'; an origin looks like"):
        Environment({"ORIGINS": "a.example"}).origins("ORIGINS")


def test_an_origin_has_no_path() -> None:
    assert Environment({"ORIGINS": "https://a.example/"}).origins("ORIGINS") == ["https://a.example"]
    with pytest.raises(SettingsError, match="an origin looks like"):
        Environment({"ORIGINS": "https://a.example/chat"}).origins("ORIGINS")


def test_a_host_is_a_name_without_scheme_and_port() -> None:
    value = "chat.example.org,.example.org,*,127.0.0.1,[::1],a_b,fully.qualified."
    assert Environment({"HOSTS": value}).hosts("HOSTS", []) == value.split(",")
    assert Environment({}).hosts("HOSTS", ["localhost"]) == ["localhost"]


@pytest.mark.parametrize("value", ["https://a.example", "a.example:443", "a.example b.example", "a/b", "::1"])
def test_a_host_that_no_request_can_have_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="HOSTS holds"):
        Environment({"HOSTS": value}).hosts("HOSTS", [])


@pytest.mark.parametrize("value", ["gemini-9-new", "tunedModels/ours_1", "x" * MODEL_LIMIT])
def test_a_model_need_not_be_known(value: str) -> None:
    assert Environment({"MODEL": value}).model("MODEL", "gemini-3") == value


@pytest.mark.parametrize("value", ["x y", "../x", "a/b", "gemini?alt=sse", "x" * (MODEL_LIMIT + 1)])
def test_what_is_no_name_of_a_model_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="MODEL is no name of a model; one looks like gemini-3"):
        Environment({"MODEL": value}).model("MODEL", "gemini-3")


@pytest.mark.parametrize("value", ["redis://host", "rediss://:secret@host:6380/2", "redis://host/"])
def test_a_redis_has_a_number_or_none(value: str) -> None:
    assert Environment({"REDIS_URL": value}).redis("REDIS_URL") == value
    assert Environment({}).redis("REDIS_URL") == ""


def test_a_redis_with_a_name_for_a_number_is_refused_without_its_password() -> None:
    with pytest.raises(SettingsError, match="number of a database") as refused:
        Environment({"REDIS_URL": "redis://:secret@host/cache"}).redis("REDIS_URL")
    assert "secret" not in str(refused.value)


def test_a_file_without_certificates_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "authorities.pem"
    file.write_text("no certificate")
    with pytest.raises(SettingsError, match=r"SSL_CERT_FILE: .* has no certificates"):
        Environment({"SSL_CERT_FILE": str(file)}).certificates("SSL_CERT_FILE")
    assert Environment({}).certificates("SSL_CERT_FILE") is None


def test_a_misspelt_setting_is_refused() -> None:
    with pytest.raises(SettingsError, match="PIPEWEB_MODLE is not a setting") as caught:
        Environment({"PIPEWEB_MODLE": "x"}).refuse_unknown("PIPEWEB_", {"PIPEWEB_MODEL"})
    assert "PIPEWEB_MODEL" in caught.value.hint


def test_sqlite_waits_for_writers_instead_of_failing(tmp_path: Path) -> None:
    config = Environment({}).database("DATABASE_URL", tmp_path / "rows.sqlite3")
    assert (config["ENGINE"], config["NAME"]) == (SQLITE, str(tmp_path / "rows.sqlite3"))
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in config["OPTIONS"]["init_command"]


def test_postgres_keeps_its_connections() -> None:
    address = "postgres://user:p%40ss@db.example:5433/rows"
    config = Environment({"DATABASE_URL": address}).database("DATABASE_URL", Path("unused"))
    assert (config["ENGINE"], config["HOST"], config["PORT"]) == (POSTGRES, "db.example", 5433)
    assert (config["PASSWORD"], config["CONN_MAX_AGE"]) == ("p@ss", 0)
    assert config["CONN_HEALTH_CHECKS"] is True


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("postgresql:///rows", {"HOST": "", "PORT": "", "USER": "", "NAME": "rows"}),
        ("postgres://u:p#s@h/rows", {"HOST": "h", "PASSWORD": "p#s", "NAME": "rows"}),
        ("postgres://u@[::1]:5433/rows", {"HOST": "::1", "PORT": 5433}),
        ("postgres://u:s@one:1,two:2/rows", {"HOST": "one,two", "PORT": "1,2", "PASSWORD": "s"}),
        ("postgres://%2Fvar%2Frun%2Fpg/rows", {"HOST": "/var/run/pg"}),
        (
            "postgres://h/rows?sslmode=require&connect_timeout=5&DISABLE_SERVER_SIDE_CURSORS=True",
            {
                "OPTIONS": {"sslmode": "require", "connect_timeout": 5},
                "DISABLE_SERVER_SIDE_CURSORS": True,
            },
        ),
        ("sqlite:////srv/my%20rows.sqlite3", {"ENGINE": SQLITE, "NAME": "/srv/my rows.sqlite3"}),
    ],
)
def test_a_database_url_is_taken_apart(address: str, expected: dict[str, object]) -> None:
    config = Environment({"DATABASE_URL": address}).database("DATABASE_URL", Path("unused"))
    assert {key: config[key] for key in expected} == expected


@pytest.mark.parametrize(
    "value",
    [
        "mysql://host/rows",
        "rows.sqlite3",
        "sqlite://",
        "postgres://user:secret@",
        "postgres://user:secret@host:port/rows",
        "postgres://user:secret@[host/rows",
    ],
)
def test_a_database_that_cannot_be_used_is_refused_without_its_password(value: str) -> None:
    with pytest.raises(SettingsError, match="DATABASE_URL") as caught:
        Environment({"DATABASE_URL": value}).database("DATABASE_URL", Path("unused"))
    assert "secret" not in str(caught.value)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"PIPEWEB_DATA: the folder .* cannot be made"):
        Environment({"PIPEWEB_DATA": str(tmp_path / "file" / "var")}).folder("PIPEWEB_DATA", tmp_path)


def test_a_folder_that_takes_no_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SettingsError, match="cannot be written to"):
        Environment({}).folder("PIPEWEB_DATA", tmp_path)


def test_the_local_secret_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    secret = kept_secret(tmp_path)
    assert kept_secret(tmp_path) == secret and len(secret) >= 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o777 == 0o600


def test_of_two_first_starts_the_first_secret_stays(tmp_path: Path) -> None:
    secret = kept_secret(tmp_path)
    make_secret(tmp_path / "secret_key")
    assert kept_secret(tmp_path) == secret
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret_key"]


def test_an_empty_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch(mode=0o600)
    with pytest.raises(SettingsError, match="is empty"):
        kept_secret(tmp_path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_secret_that_cannot_be_read_is_said(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "secret_key"
    path.write_bytes(content) if content else path.mkdir()
    with pytest.raises(SettingsError, match="cannot be read"):
        kept_secret(tmp_path)


@pytest.mark.parametrize("value", ["x", "changeme" * 3, "ab" * 40, "django-insecure-" + "0123456789" * 5])
def test_a_secret_that_can_be_guessed_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="SECRET_KEY can be guessed") as caught:
        check_secret("SECRET_KEY", value)
    assert value not in str(caught.value) or value == "x"


@pytest.mark.parametrize("value", ["0123456789abcdef" * 2, "not-a-secret" * 5])
def test_a_secret_of_enough_characters_is_taken(value: str) -> None:
    check_secret("SECRET_KEY", value)


@pytest.mark.parametrize("value", ["https://host/v?key=secret", "https://host/#v", "https://host?"])
def test_a_base_url_with_something_behind_its_path_is_refused(value: str) -> None:
    with pytest.raises(SettingsError, match="BASE has a query or a fragment") as caught:
        Environment({"BASE": value}).base_url("BASE", longest=99)
    assert "secret" not in str(caught.value)


def test_a_base_url_may_have_a_path() -> None:
    value = "https://user:word@host:8443/gemini/"
    assert Environment({"BASE": value}).base_url("BASE", longest=99) == value
    assert Environment({}).base_url("BASE", longest=99) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "line"),
    [
        ({"DEBUG": "0"}, "pipeweb: SECRET_KEY is required when DEBUG is off. 50 random characters will do."),
        (
            {"DEBUG": "0", "SECRET_KEY": "changeme"},
            f"pipeweb: SECRET_KEY can be guessed: it needs 32 characters, 5 of them different. {ENOUGH}",
        ),
        (
            {"LOG_LEVEL": "loud"},
            "pipeweb: LOG_LEVEL is 'loud'; it can be DEBUG, INFO, WARNING, ERROR, CRITICAL.",
        ),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    tmp_path: Path, variables: dict[str, str], line: str
) -> None:
    done = manage(tmp_path, "check", **variables)
    assert (done.returncode, done.stderr) == (2, line + "\n")


@pytest.mark.slow
def test_a_deployment_passes_djangos_checks(tmp_path: Path) -> None:
    secret = "x" * 20 + "0123456789abcdefghijklmnopqrstuvwxyz"
    done = manage(tmp_path, "check", "--deploy", "--fail-level", "ERROR", DEBUG="off", SECRET_KEY=secret)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_key_of_the_provider_is_hidden_on_error_pages(tmp_path: Path) -> None:
    words = "from django.views.debug import *; print(SafeExceptionReporterFilter().get_safe_settings())"
    done = manage(tmp_path, "shell", "--no-imports", "-c", words, GEMINI_API_KEY="not-for-your-eyes")
    assert done.returncode == 0, done.stderr
    assert "GEMINI_API_KEY" in done.stdout and "not-for-your-eyes" not in done.stdout


@pytest.mark.slow
def test_a_deployment_serves_hashed_files(tmp_path: Path) -> None:
    with Server(tmp_path, DEBUG="off", SECRET_KEY="not-a-secret" * 5) as server:
        with urllib.request.urlopen(f"{server.url}/sign-in") as page:
            names = re.findall(r"/static/([^\"#]+)", page.read().decode())
        assert any(name.startswith("bundles/") for name in names)
        for name in names:
            assert re.fullmatch(r"[\w/.-]+\.[0-9a-f]{12}\.\w+", name)
            with urllib.request.urlopen(f"{server.url}/static/{name}") as file:
                assert "immutable" in file.headers["Cache-Control"]


def test_a_folder_to_read_from_must_be_there(tmp_path: Path) -> None:
    assert Environment({}).existing_folder("PIPEWEB_REPLAY") is None
    assert Environment({"PIPEWEB_REPLAY": str(tmp_path)}).existing_folder("PIPEWEB_REPLAY") == tmp_path
    with pytest.raises(SettingsError, match="PIPEWEB_REPLAY"):
        Environment({"PIPEWEB_REPLAY": str(tmp_path / "gone")}).existing_folder("PIPEWEB_REPLAY")


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy"])
@pytest.mark.parametrize("value", ["proxy:3128", "http://proxy:3128"])
def test_a_proxy_is_written_as_for_curl(name: str, value: str) -> None:
    assert Environment({name: value}).proxy("HTTPS_PROXY") == "http://proxy:3128"


def test_a_proxy_of_another_kind_is_refused_without_its_password() -> None:
    with pytest.raises(SettingsError, match="URL of an HTTP proxy") as refused:
        Environment({"HTTPS_PROXY": "socks5://ann:secret@proxy"}).proxy("HTTPS_PROXY")
    assert "secret" not in f"{refused.value} {refused.value.hint}"


def test_a_file_to_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no file"):
        Environment({"SSL_CERT_FILE": str(tmp_path)}).existing_file("SSL_CERT_FILE")
