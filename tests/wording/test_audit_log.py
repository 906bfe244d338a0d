"""What the audit log says of an entry."""

from sessions_app.wording.audit_log import details


def test_a_list_without_a_filter_was_not_narrowed() -> None:
    assert details({"filters": []}) == ""
    assert details({"filters": ["of", "q"]}) == "narrowed by of, q"
