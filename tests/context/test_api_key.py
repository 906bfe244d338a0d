"""The API key in use."""

import errno
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions_app.context.api_key import FILE_NAME, KeyStore
from sessions_app.errors import KeyNotChanged, SettingsError
from sessions_app.key_codes import KeyOrigin, KeyProblem

KEY = "AI" + "za" + "k" * 20


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.PIPEWEB_DATA = tmp_path
    return tmp_path


def test_a_key_of_the_environment_wins(folder: Path, settings: Settings) -> None:
    store = KeyStore()
    store.keep(KEY, KeyOrigin.DATA_FOLDER)
    settings.GEMINI_API_KEY = "another"
    assert (store.current().text, store.current().origin) == ("another", KeyOrigin.ENVIRONMENT)
    assert not store.is_settable
    with pytest.raises(SettingsError):
        store.keep(KEY, KeyOrigin.PROCESS)


def test_the_file_is_for_its_owner_only_and_outlives_the_process(folder: Path) -> None:
    KeyStore().keep(KEY, KeyOrigin.DATA_FOLDER)
    assert stat.S_IMODE((folder / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]
    assert (KeyStore().current().text, KeyStore().current().origin) == (KEY, KeyOrigin.DATA_FOLDER)


def test_a_key_in_memory_leaves_no_file(folder: Path) -> None:
    store = KeyStore()
    store.keep(KEY, KeyOrigin.DATA_FOLDER)
    store.keep("another", KeyOrigin.PROCESS)
    assert (store.current().text, store.current().origin) == ("another", KeyOrigin.PROCESS)
    assert not list(folder.iterdir()) and not KeyStore().current().text


@pytest.mark.parametrize("place", [KeyOrigin.PROCESS, KeyOrigin.DATA_FOLDER])
def test_a_removed_key_is_gone(folder: Path, place: KeyOrigin) -> None:
    store = KeyStore()
    store.keep(KEY, place)
    store.remove()
    assert store.current().origin is KeyOrigin.NONE and not list(folder.iterdir())


def test_with_several_processes_only_the_environment_counts(folder: Path, settings: Settings) -> None:
    store = KeyStore()
    store.keep(KEY, KeyOrigin.DATA_FOLDER)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert store.current().origin is KeyOrigin.NONE and not store.is_settable


@pytest.mark.parametrize("content", [b"", b"two words", b"\xff\xfe", b"\n"])
def test_a_file_without_a_possible_key_is_none(folder: Path, content: bytes) -> None:
    (folder / FILE_NAME).write_bytes(content)
    assert KeyStore().current().origin is KeyOrigin.NONE


def test_a_key_is_not_in_its_representation(folder: Path) -> None:
    store = KeyStore()
    store.keep(KEY, KeyOrigin.PROCESS)
    assert KEY not in repr(store.current()) + repr(store)


def folder_in_its_place(path: Path) -> None:
    path.mkdir()


def loop_of_links(path: Path) -> None:
    path.symlink_to(path)


def refusing(code: int) -> Callable[..., str]:
    def refuse(*_: object, **__: object) -> str:
        raise OSError(code, "told by the system")

    return refuse


@pytest.mark.parametrize("spoil", [folder_in_its_place, loop_of_links])
def test_a_file_that_cannot_be_read_is_told_and_no_key(folder: Path, spoil: Callable[[Path], None]) -> None:
    spoil(folder / FILE_NAME)
    assert (KeyStore().current().text, KeyStore().current().origin) == ("", KeyOrigin.UNREADABLE)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
def test_a_file_that_the_system_refuses_to_read_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    KeyStore().keep(KEY, KeyOrigin.DATA_FOLDER)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", refusing(code))
        assert KeyStore().current().origin is KeyOrigin.UNREADABLE
    assert KeyStore().current().text == KEY


def test_a_passing_error_does_not_take_a_key_that_was_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    KeyStore().keep(KEY, KeyOrigin.DATA_FOLDER)
    store = KeyStore()
    assert store.current().text == KEY
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", refusing(errno.EMFILE))
        assert (store.current().text, store.current().origin) == (KEY, KeyOrigin.DATA_FOLDER)
        assert KeyStore().current().origin is KeyOrigin.UNREADABLE
    (folder / FILE_NAME).unlink()
    assert store.current().origin is KeyOrigin.NONE
    (folder / FILE_NAME).mkdir()
    assert (store.current().text, store.current().origin) == ("", KeyOrigin.UNREADABLE)


def test_a_link_that_leads_nowhere_is_replaced_and_removed(folder: Path) -> None:
    (folder / FILE_NAME).symlink_to(folder / FILE_NAME)
    store = KeyStore()
    store.keep(KEY, KeyOrigin.DATA_FOLDER)
    assert store.current().text == KEY and not (folder / FILE_NAME).is_symlink()
    loop_of_links(folder / "loop")
    (folder / "loop").replace(folder / FILE_NAME)
    store.remove()
    assert store.current().origin is KeyOrigin.NONE and not list(folder.iterdir())


@pytest.mark.parametrize("place", [KeyOrigin.PROCESS, KeyOrigin.DATA_FOLDER])
def test_a_file_that_cannot_be_replaced_changes_nothing(folder: Path, place: KeyOrigin) -> None:
    store = KeyStore()
    store.keep("another", KeyOrigin.PROCESS)
    folder_in_its_place(folder / FILE_NAME)
    with pytest.raises(KeyNotChanged) as refused:
        store.keep(KEY, place)
    assert refused.value.reason is KeyProblem.NOT_KEPT
    with pytest.raises(KeyNotChanged) as refused:
        store.remove()
    assert refused.value.reason is KeyProblem.NOT_REMOVED
    assert store.current().text == "another" and [path.name for path in folder.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_what_is_wrong_with_the_disk_is_told_as_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(Path, "replace", refusing(code))
    with pytest.raises(OSError) as told:
        KeyStore().keep(KEY, KeyOrigin.DATA_FOLDER)
    assert told.value.errno == code and not list(folder.iterdir())
