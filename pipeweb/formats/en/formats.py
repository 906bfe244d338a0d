"""As on the other pages: the day first, 24 hours, and seconds, since a log may have several in a minute."""

DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i:s"
DATETIME_FORMAT = "j M Y, H:i:s"
MONTH_DAY_FORMAT = "j F"
