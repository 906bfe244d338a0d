#!/bin/sh
# Brings .venv, the database and the static files up to this release. Run it as the user of the service.
set -eu
umask 077
set -a
. /etc/pipeweb/environment
set +a
cd /srv/pipeweb/app
python3 manage.py migrate --noinput
python3 manage.py collectstatic --noinput --verbosity 0
# nginx reads these; everything else in the folder stays closed to it.
chmod -R u=rwX,go=rX "$PIPEWEB_DATA/static"
