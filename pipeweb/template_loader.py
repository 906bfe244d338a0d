"""Loads the templates of the pages without their indentation, a tenth of what they would send."""

import re

from django.template import Origin
from django.template.loaders import filesystem

_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


class Loader(filesystem.Loader):
    """Lines stay, so that errors name the right one; no template has text in which indentation shows."""

    def get_contents(self, origin: Origin) -> str:
        return _INDENTATION.sub("", super().get_contents(origin))
