"""What is wrong with the JSON schema of an answer, and where an answer does not fit it."""

from sessions_app.prompt.answer_schema import MOST_PLACES, Fit, SchemaFault, SchemaProblem

PROBLEMS: dict[str, str] = {
    SchemaProblem.NOT_JSON: "This is no JSON: line {line}, column {column}.",
    SchemaProblem.NOT_OBJECT: "A schema is an object in braces.",
    SchemaProblem.UNKNOWN_KEYWORD: "{path}: Gemini does not know “{keyword}” and would not heed it.",
    SchemaProblem.WRONG_VALUE: "{path}: “{keyword}” cannot have this value.",
    SchemaProblem.BESIDE_REFERENCE: "{path}: beside $ref there may be no “{keyword}”.",
    SchemaProblem.UNKNOWN_TYPE: "{path}: there is no type “{name}”.",
    SchemaProblem.NO_TARGET: "{path}: nothing is at “{name}”; a reference is # or #/$defs/name.",
    SchemaProblem.NOT_DESCRIBED: "{path}: “{name}” is not among the properties.",
    SchemaProblem.TOO_LONG: "At most {limit:,} characters.",
    SchemaProblem.TOO_DEEP: "{path}: at most {limit} levels.",
}

FITS: dict[str, str] = {
    "fits": "Fits the schema",
    "misfit": "Does not fit the schema at {path}, by “{rule}”",
    "misfits": "Does not fit the schema at {places} places, first at {path}, by “{rule}”",
    "many": "Does not fit the schema at {places} places or more, first at {path}, by “{rule}”",
    "no_json": "A schema was asked for, and this is no JSON",
    "unchecked": "Not checked: the schema refers to itself without end, or asks for too many checks",
}


def schema_fault(fault: SchemaFault) -> str:
    return PROBLEMS[fault.problem].format(path=fault.path, **fault.figures)


def fit(found: Fit) -> str:
    key: str = found.case
    if found.case == "misfit" and found.places > 1:
        key = "many" if found.places >= MOST_PLACES else "misfits"
    return FITS[key].format(path=found.path, rule=found.rule, places=found.places)
