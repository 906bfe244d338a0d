"""How templates are loaded."""

from django.template.loader import get_template

from pipeweb.settings import BASE_DIR


def test_indentation_is_not_sent_and_lines_stay() -> None:
    source = (BASE_DIR / "templates" / "shortcuts_list.html").read_text()
    loaded = get_template("shortcuts_list.html").template.source  # type: ignore[attr-defined]
    assert "\n  " in source and "\n " not in loaded
    assert [line.strip() for line in source.splitlines()] == [line.strip() for line in loaded.splitlines()]


def test_templates_of_applications_are_as_they_are() -> None:
    assert "\n  " in get_template("admin/change_list.html").template.source  # type: ignore[attr-defined]
