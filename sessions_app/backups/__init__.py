"""One file with all that an installation keeps, and the way back: `manage.py backup` and `restore`."""
