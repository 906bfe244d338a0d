"""Hostile templates by kind, and the arguments they are given; more are in `tests/prompt/test_sandbox.py`."""

from collections.abc import Iterator

from tests.prompt.test_sandbox import HOSTILE, QUIET, VALUES

__all__ = ["VALUES", "hostile_templates"]

HOLDERS = ("''", "[]", "{}", "()", "1", "1.5", "none", "true", "xs", "word", "nope", "on", "loop")
ESCAPES = (
    "{{ HOLDER.__class__.__mro__[1].__subclasses__() }}",
    "{{ HOLDER['__class__']['__base__'] }}",
    "{{ [HOLDER]|map(attribute='__class__.__init__.__globals__')|list }}",
    "{{ HOLDER.__init__.__globals__.__builtins__.open('/etc/passwd').read() }}",
)

WIDTH = 10**9
FILTERS = (
    f"center({WIDTH})",
    f"indent({WIDTH})",
    f"wordwrap({WIDTH})",
    "wordwrap(1, true, big)",
    f"batch({WIDTH}, big)|list",
    f"slice({WIDTH})|list",
    "format(1)",
    f"truncate({WIDTH}, true, big)",
    "urlize",
    "striptags",
    "xmlattr",
    "groupby('.' * 100000)",
    "sum(start=big)",
    "random",
    "pprint",
    "filesizeformat",
    "urlencode",
    "forceescape",
    "attr('__class__')",
    "tojson(indent=1000000)",
    f"round({-WIDTH})",
    "int(base=36)",
    "replace('a', big)",
    "list|map('replace', 'a', big)|join",
    "list|sort|map('list')|list",
)

STATEMENTS = (
    "include 'x'",
    "import 'os' as os",
    "from 'os' import system",
    "extends 'x'",
    "macro m(a)",
    "call m(1)",
    "block b",
    "trans",
    "do 1",
    "debug",
    "continue",
    "set ns = namespace(a=1)",
    "set c = cycler('a', 'b')",
    "set j = joiner(',')",
    "set d = dict(a=1)",
    "set l = lipsum()",
)

SOURCES = {
    "brackets": "{{ " + "[" * 60_000 + "]" * 60_000 + " }}",
    "braces": "{{ " + "{1:" * 5_000 + "1" + "}" * 5_000 + " }}",
    "not": "{{ " + "not " * 40_000 + "1 }}",
    "minus": "{{ " + "-" * 190_000 + "1 }}",
    "ternaries": "{{ " + "1 if 1 else " * 600 + "1 }}",
    "filters": "{{ big" + "|upper" * 900 + " }}",
    "comparisons": "{{ 1" + " < 1" * 900 + " }}",
    "concatenations": "{{ big" + " ~ big" * 900 + " }}",
    "elifs": "{% if 0 %}" + "{% elif 0 %}" * 600 + "{% endif %}",
    "withs": "{% with %}" * 600 + "{% endwith %}" * 600,
    "a huge text": "{{ '" + "x" * 190_000 + "' }}",
    "escapes in a text": "{{ '" + "\\'" * 95_000 + " }}",
    "an open text": "{{ '" + "\\\\" * 95_000,
    "an open comment": "{#" * 95_000,
    "a huge comment": "{#" + "-" * 190_000 + "#}",
    "open tags": "{{" * 95_000,
    "open statements": "{%" * 95_000,
    "space in a tag": "{%" + " " * 190_000 + "if",
    "space behind a tag": "{{ 1 -}}" + " \n" * 95_000,
    "lines before a tag": "\n" * 190_000 + "{%- if",
    "raw without an end": "{% raw %}" + "{%" * 90_000,
    "a huge number": "{{ " + "1" * 190_000 + " }}",
    "a huge number with marks": "{{ " + "1_" * 95_000 + "1 }}",
    "a huge float": "{{ " + "1." + "1" * 180_000 + "e9999 }}",
    "a huge name": "{{ " + "n" * 190_000 + " }}",
    "many names": "{{ " + " ".join(f"n{number}" for number in range(20_000)) + " }}",
    "a very long text": "{{ 1 }}" + "x" * 5_000_000,
    "surrogates": "\ud800{{ word }}" * 90_000,
}


def hostile_templates() -> Iterator[tuple[str, str]]:
    """Name and text of each."""
    yield from HOSTILE.items()
    yield from QUIET.items()
    for number, escape in enumerate(ESCAPES):
        for holder in HOLDERS:
            yield f"escape {number} from {holder}", escape.replace("HOLDER", holder)
    for name in FILTERS:
        yield f"filter {name}", f"{{{{ big|{name} }}}}"
    for name in STATEMENTS:
        yield f"statement {name}", f"{{% {name} %}}{{{{ j }}}}"
    yield from SOURCES.items()
