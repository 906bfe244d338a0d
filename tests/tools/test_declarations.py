"""Functions as the model reads them."""

from typing import Annotated, Any

import orjson
import pytest
from google.genai import types
from pydantic import Field

from sessions_app.errors import ToolError
from sessions_app.panels import TOOLBOX
from sessions_app.tools import ToolContext
from sessions_app.tools.declarations import arguments_model, declare, description_of, validate

KNOWN = {"type", "description", "enum", "items", "properties", "required"}


def paint(
    context: ToolContext,
    sizes: Annotated[list[int], Field(description="Widths", min_length=1)],
    title: str = "none",
) -> dict[str, Any]:
    """Paints a picture.

    With care.
    """
    return {}


PAINT = arguments_model(paint)


def keywords(schema: dict[str, Any]) -> set[str]:
    nested = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return set(schema).union(*map(keywords, nested))


def test_a_function_is_declared_by_its_signature() -> None:
    assert declare("paint", description_of(paint.__doc__), PAINT) == {
        "name": "paint",
        "description": "Paints a picture. With care.",
        "parameters": {
            "type": "object",
            "properties": {
                "sizes": {"type": "array", "description": "Widths", "items": {"type": "integer"}},
                "title": {"type": "string"},
            },
            "required": ["sizes"],
        },
    }


def test_a_function_without_arguments_has_no_parameters() -> None:
    assert "parameters" not in TOOLBOX.declarations({"list_todos"})[0]


def test_a_type_that_gemini_cannot_read_is_refused_at_the_start() -> None:
    def dye(colour: str | None) -> dict[str, Any]:
        return {"colour": colour}

    with pytest.raises(TypeError, match="colour"):
        declare("dye", "", arguments_model(dye))


@pytest.mark.parametrize("declaration", TOOLBOX.declarations(TOOLBOX.names), ids=lambda one: one["name"])
def test_every_declaration_is_one_that_gemini_knows(declaration: dict[str, Any]) -> None:
    assert types.FunctionDeclaration.model_validate(declaration).description
    assert keywords(declaration.get("parameters", {})) <= KNOWN


def test_declarations_are_the_same_bytes_in_any_order_of_enabling() -> None:
    forwards = TOOLBOX.declarations(TOOLBOX.names)
    backwards = TOOLBOX.declarations([*reversed(TOOLBOX.names), "unknown"])
    assert orjson.dumps(forwards) == orjson.dumps(backwards)
    assert [one["name"] for one in forwards] == sorted(TOOLBOX.names)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({}, "“sizes” is missing"),
        ({"sizes": [1], "color": "red"}, "no argument “color”"),
        ({"sizes": ["wide"]}, "“sizes.0” is wrong"),
        ({"sizes": []}, "at least 1 item"),
    ],
)
def test_wrong_arguments_are_explained(args: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError, match=words) as caught:
        validate(PAINT, args)
    assert caught.value.hint == "Arguments: sizes, title (optional)."
