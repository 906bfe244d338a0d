"""What the small forms refuse."""

from sessions_app.chat.forms import FileForm, TitleForm


def test_a_title_has_a_length() -> None:
    assert TitleForm({"title": "x" * 120}).is_valid()
    assert not TitleForm({"title": "x" * 121}).is_valid()


def test_a_file_form_needs_a_file_or_a_path() -> None:
    assert not FileForm({}).is_valid()
    assert FileForm({"path": "notes.md"}).is_valid()
