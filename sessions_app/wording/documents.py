"""Why a document or a web page does not become text, and what stands above a text that came from one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from sessions_app.error_codes import DocumentProblem
from sessions_app.wording.sentences import fill

PROBLEMS: dict[str, str] = {
    DocumentProblem.NO_WEB_ADDRESS: "This is not the address of a web page: it begins with http:// or https://.",
    DocumentProblem.WITH_LOGIN: "The address holds a name or a password, which is not sent. Leave it out.",
    DocumentProblem.BAD_ADDRESS: (
        "The address cannot be used: its server or its port is written wrongly, or it has more than "
        "{limit:,} characters."
    ),
    DocumentProblem.UNKNOWN_HOST: "There is no server called {host}.",
    DocumentProblem.PRIVATE_ADDRESS: "{host} is in a private network. Only public pages are fetched.",
    DocumentProblem.UNREACHABLE: "{host} did not answer.",
    DocumentProblem.TOO_SLOW: "It took longer than {seconds} seconds.",
    DocumentProblem.TOO_MANY_REDIRECTS: "The page redirects more than {limit} times.",
    DocumentProblem.BAD_STATUS: "The server answered with status {status}, not with a page.",
    DocumentProblem.PAGE_TOO_LARGE: "The page has more than {limit:,} bytes.",
    DocumentProblem.WRONG_TYPE: "The page is no text but {mime}.",
    DocumentProblem.UNREADABLE: "The page could not be read.",
    DocumentProblem.NO_TEXT: "There is no text in it.",
    DocumentProblem.TEXT_TOO_LARGE: "Its text has more than {limit:,} bytes.",
    DocumentProblem.NO_DOCUMENT: "This is no Word document (.docx).",
    DocumentProblem.BROKEN_DOCUMENT: "The document is damaged, or protected by a password.",
    DocumentProblem.ARCHIVE_TOO_LARGE: "It unpacks to more than {limit:,} bytes, or to too many files.",
    DocumentProblem.TOO_COMPLEX: "It could not be read: it is damaged or too complex.",
    DocumentProblem.BUSY: "Others are being read now. Try again in a moment.",
}

HINTS = {
    "page": "Copy the text that matters and paste it.",
    "document": "Save it as text or PDF and attach that.",
    "archive": "Put it into the Workspace panel, which unpacks it.",
}

NAMED = {"file": "“{name}”: {sentence}"}
"""A problem of one file of several."""

ORIGINS = {
    "document": "Text of the Word document “{name}”\n\n{text}\n",
    "page": "Text of the web page {url}\n{title}Fetched {moment}\n\n{text}\n",
    "title": "Title: {title}\n",
}


def problem(reason: DocumentProblem, figures: Mapping[str, Any]) -> str:
    return fill(PROBLEMS[reason], figures)


def problem_of_file(name: str, reason: DocumentProblem, figures: Mapping[str, Any]) -> str:
    return NAMED["file"].format(name=name, sentence=problem(reason, figures))


def hint(what: Literal["page", "document", "archive"]) -> str:
    return HINTS[what]


def document_with_origin(name: str, text: str) -> str:
    return ORIGINS["document"].format(name=name, text=text)


def page_with_origin(url: str, title: str, fetched_at: datetime, text: str) -> str:
    """`fetched_at` in UTC."""
    named = ORIGINS["title"].format(title=title) if title else ""
    moment = f"{fetched_at:%d %b %Y, %H:%M} UTC"
    return ORIGINS["page"].format(url=url, title=named, moment=moment, text=text)
