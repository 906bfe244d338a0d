"""Random templates of the whole grammar: mostly valid, often dear, now and then damaged."""

from random import Random

from sessions_app.prompt.filters import FILTERS, TESTS

NAMES = ("xs", "big", "word", "many", "nope", "a", "b")
ATOMS = (
    "1",
    "0",
    "-3",
    "2.5",
    "10**9",
    "9999999",
    "'x'",
    "'%s'",
    "''",
    "none",
    "true",
    "[]",
    "{}",
    "[1, 'b', none]",
)
ATTRIBUTES = ("items", "x", "__class__", "0", "index", "split", "first", "keys", "length")
OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "~",
    "==",
    "<",
    ">=",
    "!=",
    "in",
    "not in",
    "and",
    "or",
    "~",
    "==",
    "and",
    "or",
)
CALLS = (".items()", ".keys()", ".values()", ".get('x')", ".split('a')", ".startswith('a')", ".cycle(1, 2)")
KNOWN_FILTERS = sorted(name for name in FILTERS if name.isidentifier())
KNOWN_TESTS = sorted(name for name in TESTS if name.isidentifier())
DAMAGE = (
    "{% macro m() %}{{ m() }}{% endmacro %}",
    "{{ self }}{{ loop }}",
    "{{ [].x() }}",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "'",
    "(",
    "[",
    "|",
    "\\",
    "\ud800",
    "\0",
    "{% endfor %}",
    "{% raw %}",
)


class Grammar:
    """Templates from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def template(self) -> str:
        text = "".join(self._statement(2) for _ in range(self._random.randint(1, 2)))
        if self._chance(0.1):
            place = self._random.randint(0, len(text))
            text = text[:place] + self._pick(DAMAGE) * self._random.choice((1, 1, 1, 500)) + text[place:]
        return text * self._random.choice((1, 1, 1, 1, 1, 20)) if self._chance(0.2) else text

    def _statement(self, depth: int) -> str:
        body = (
            "".join(self._statement(depth - 1) for _ in range(self._random.randint(0, 2))) if depth else "x"
        )
        name, value = self._pick(("a", "b")), self._expression(depth)
        forms = (
            f"{{{{ {value} }}}}",
            f"{{{{- {value} -}}}}\n",
            f"{{% for {name} in {value} %}}{body}{{% endfor %}}",
            f"{{% for a, b in {value} if a %}}{body}{{% else %}}{body}{{% endfor %}}",
            f"{{% if {value} %}}{body}{{% else %}}{body}{{% endif %}}",
            f"{{% set {name} = {value} %}}",
            f"{{% set {name} %}}{body}{{% endset %}}",
            f"{{% with {name} = {value} %}}{body}{{% endwith %}}",
            f"{{% filter {self._filter(0)} %}}{body}{{% endfilter %}}",
            f"{{% autoescape on %}}{body}{{% endautoescape %}}",
            f"{{# {value} #}}",
            "text " * self._random.randint(1, 50),
        )
        return self._pick(forms if depth else forms[:2])

    def _expression(self, depth: int) -> str:
        if not depth:
            return self._pick(NAMES + ATOMS)
        left, right = self._expression(depth - 1), self._expression(depth - 1)
        forms = (
            left,
            f"{left}|{self._filter(depth - 1)}",
            f"({left})|{self._filter(depth - 1)}",
            f"({left} {self._pick(OPERATORS)} {right})",
            f"{self._pick(NAMES)}.{self._pick(ATTRIBUTES)}",
            f"({left})['{self._pick(ATTRIBUTES)}']",
            f"({left})[{right}]",
            f"({left})[{self._pick(ATOMS)}:{self._pick(ATOMS)}]",
            f"({left}){self._pick(CALLS)}",
            f"[{left}, {right}]",
            f"{{'x': {left}, 'items': {right}}}",
            f"({left} if {right} else {left})",
            f"({left} is {self._pick(KNOWN_TESTS)})",
            f"(not {left})",
        )
        return self._pick(forms)

    def _filter(self, depth: int) -> str:
        name = self._pick(KNOWN_FILTERS)
        arguments = (*[""] * 6, f"({self._expression(depth)})", f"('{self._pick(KNOWN_FILTERS)}')")
        path = f"(attribute='{self._pick(('x', 'x.y', '.' * 9, ',' * 5, '0'))}')"
        return name + self._pick((*arguments, path))

    def _pick(self, choices: tuple[str, ...] | list[str]) -> str:
        return self._random.choice(choices)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share
