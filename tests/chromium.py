"""The Chromium of this machine."""

import shutil

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The shell is Chromium without its windows, tabs and profiles: half the work for the same pages."""

CHROMIUM = next(filter(None, map(shutil.which, CHROMIUMS)), None)
"""Its path; None where there is none."""
