"""DEPLOYMENT.md, “Update, and go back”: its commands, on the site of the page."""

from pathlib import Path

from sessions_app.backups.archive import unpack
from tests.deployment.site import Site
from tests.deployment.visitor import Visitor


def test_back_up_update_and_go_back(site: Site, visitor: Visitor, tmp_path: Path) -> None:
    path = tmp_path / "before.tar.gz"
    assert visitor.get("/").status_code == 200
    site.manage("backup", str(path))
    assert unpack(path, tmp_path / "unpacked").vendor == "postgresql"
    serving = site.run("restore", "--force", str(path), environment=site.environment)
    assert serving.returncode == 1 and "server is running" in serving.stderr
    since = {"USERNAME": "later", "EMAIL": "", "PASSWORD": "since"}
    variables = {f"DJANGO_SUPERUSER_{name}": value for name, value in since.items()}
    site.manage("createsuperuser", "--noinput", **variables)
    for process in site.processes:
        process.stop()
    refused = site.run("restore", str(path), environment=site.environment)
    assert refused.returncode == 1 and "--force" in refused.stderr
    done = site.run("restore", "--force", str(path), environment=site.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differences" in done.stdout and "schema before_restore_" in done.stdout
    site.manage("migrate", "--check")
    assert site.database.rows("SELECT count(*) FROM auth_user WHERE username = 'later'") == [(0,)]
    site.ensure()
    assert visitor.get("/").status_code == 200
