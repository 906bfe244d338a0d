"""The allow-list of tags, attributes and addresses.

The second defence: the parser already escapes raw HTML. Class names come from this package only.
"""

import re

import nh3

TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li"),
    *("strong", "em", "s", "sup", "code", "pre", "a", "img", "span", "div", "button", "input"),
    *("details", "summary", "table", "thead", "tbody", "tr", "th", "td"),
    *("math", "mrow", "mi", "mo", "mn", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "mstyle"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none"),
    *("mtable", "mtr", "mtd", "mpadded", "mphantom"),
}

ATTRIBUTES = {
    "a": {"href", "target", "title"},
    "code": {"class"},
    "details": {"class"},
    "math": {"display"},
    "mfrac": {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {
        "accent",
        "fence",
        "form",
        "largeop",
        "maxsize",
        "minsize",
        "movablelimits",
        "separator",
        "stretchy",
    },
    "mspace": {"height", "width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"displaystyle"},
    "mtd": {"class"},
    "button": {"aria-pressed", "class", "type", "data-copy", "data-copy-table", "data-save", "data-wrap"},
    "div": {"class", "id", "tabindex"},
    "img": {"src", "alt", "title"},
    "input": {"checked"},
    "li": {"class"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class"},
    "sup": {"class", "id"},
    "td": {"class"},
    "th": {"class"},
    "ul": {"class"},
}

FORCED = {
    "input": {"type": "checkbox", "disabled": "", "aria-label": "task"},
}

PICTURE = re.compile(r"data:image/(?:png|gif|jpeg|webp);base64,[A-Za-z0-9+/=]+")
"""Addresses allowed for images; loading a remote image would disclose who reads the text."""

_LINK = re.compile(r"(?:https?:|mailto:|#[\w-]+\Z)", re.IGNORECASE)
"""Addresses allowed for links: elsewhere, or a place of the same page."""

DIRECTIONS = {"dir": {"auto"}}
"""Where markers and columns stand follows the text, and nothing else."""

UNENCODABLE = re.compile("[\ud800-\udfff]")


def sanitise(html: str) -> str:
    return _CLEANER.clean(html)


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, of the same length."""
    return text if text.isascii() else UNENCODABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def is_picture(address: str) -> bool:
    """Whether the address is a raster image inside the text itself."""
    return PICTURE.fullmatch(address) is not None


def _address_allowed(tag: str, attribute: str, value: str) -> str | None:
    if attribute == "src" and not is_picture(value):
        return None
    if attribute == "href" and not _LINK.match(value):
        return None
    return value


_CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    tag_attribute_values=dict.fromkeys(("blockquote", "ol", "table", "ul"), DIRECTIONS),
    set_tag_attribute_values=FORCED,
    attribute_filter=_address_allowed,
    url_schemes={"http", "https", "mailto", "data"},
    link_rel="noopener nofollow ugc",
)
