"""Where a person's files lie."""

from pathlib import Path

from pytest_django import Settings

from sessions_app.context.workspaces import workspace_of


def test_a_folder_is_made_on_first_use_under_the_configured_root(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_WORKSPACES = tmp_path / "deep" / "root"
    assert workspace_of(7).root == tmp_path / "deep" / "root" / "7"
    assert workspace_of(7).root.is_dir()


def test_two_people_have_two_folders(settings: Settings, tmp_path: Path) -> None:
    settings.PIPEWEB_WORKSPACES = tmp_path
    assert workspace_of(1).root != workspace_of(2).root
