"""What generationConfig and toolConfig make of a script: JSON, stop sequences, forced calls, signing."""

import json
from dataclasses import replace

from sessions_app.emulator.samples import sample
from sessions_app.emulator.scripts import Ask, Scene, Script
from sessions_app.emulator.settings import GenerationConfig

_ENUM_TYPE = "text/x.enum"


def force_call(scene: Scene, script: Script) -> Script:
    """Mode ANY: the script, or a call of the first allowed function with made-up arguments."""
    if scene.mode != "ANY" or script.calls or not scene.functions:
        return script
    name, function = next(iter(scene.functions.items()))
    args = sample(function.argument_schema)
    thought = f"**Calling a function**\n\nThe request demands a call, and `{name}` is the first allowed."
    return Script(calls=(Ask(name, args if isinstance(args, dict) else {}),), thoughts=(thought,))


def in_format(script: Script, config: GenerationConfig) -> Script:
    """The text as `responseMimeType` and a schema want it."""
    kind = config.response_mime_type
    if script.calls or kind not in {"application/json", _ENUM_TYPE}:
        return script
    schema = config.response_json_schema or (config.response_schema and config.response_schema.plain())
    value = sample(schema) if schema else {"answer": script.text}
    text = str(value) if kind == _ENUM_TYPE else json.dumps(value, ensure_ascii=False, indent=2)
    return replace(script, text=text)


def stop_early(script: Script, config: GenerationConfig) -> Script:
    """The text up to the first stop sequence; the model never says the sequence itself."""
    found = [script.text.find(stop) for stop in config.stop_sequences or () if stop]
    ends = [end for end in found if end >= 0]
    return replace(script, text=script.text[: min(ends)]) if ends else script


def sign(script: Script, scene: Scene) -> Script:
    """The script, unsigned where the model signs no text (recorded-traffic "Signatures: where").

    Gemini 3 leaves a text without thoughts after a tool result unsigned, except Flash-Lite;
    2.5 signs a text only when it thought and could have called a function.
    """
    if script.calls or not script.signed:
        return script
    if scene.model.checks_signatures:
        signed = script.has_thought or scene.last is None or scene.model.always_signs
    else:
        signed = script.has_thought and scene.declares
    return replace(script, signed=signed)
