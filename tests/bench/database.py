"""A migrated database in which people may send as often as a benchmark does."""

from tests.bench.processes import lift_limits, set_up_django


def main() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    lift_limits()


if __name__ == "__main__":
    set_up_django()
    main()
