"""Rows that the sign-in of a team keeps of a person, also where it was switched off again.

Django knows their tables only while it is on, and the database refuses to delete a person whom they name.
"""

from django.db.backends.base.base import BaseDatabaseWrapper

OF_ADDRESS = "IN (SELECT id FROM account_emailaddress WHERE user_id = %s)"
OF_ACCOUNT = "IN (SELECT id FROM socialaccount_socialaccount WHERE user_id = %s)"

ROWS = (
    ("account_emailconfirmation", f"email_address_id {OF_ADDRESS}"),
    ("account_emailaddress", "user_id = %s"),
    ("mfa_authenticator", "user_id = %s"),
    ("usersessions_usersession", "user_id = %s"),
    ("socialaccount_socialtoken", f"account_id {OF_ACCOUNT}"),
    ("socialaccount_socialaccount", "user_id = %s"),
)
"""Table and condition; what others name comes last."""


def delete_team_rows(connection: BaseDatabaseWrapper, person: int) -> None:
    """Within the transaction that deletes the person."""
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
        for table, condition in ROWS:
            if table in present:
                cursor.execute(f"DELETE FROM {table} WHERE {condition}", [person])  # noqa: S608
