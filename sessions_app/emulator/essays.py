"""The longer texts that markers play."""

LONG_THOUGHTS = (
    (
        "**Reading the question**\n\n"
        "The message asks to see thinking, so the first thing is to find out what there is to think about. "
        "The newest user text decides the scenario; everything before it is context, and none of it is a "
        "question of its own."
    ),
    (
        "**Weighing the options**\n\n"
        "A short answer would hide how thoughts arrive. Two summaries, each with a bold heading, are what a "
        "thinking model streams before the answer; they carry no signature themselves, since that sits on "
        "the answer or on the first call."
    ),
    (
        "**Settling on the answer**\n\n"
        "The plain account of the request is still the most useful text. The thoughts end here, and the "
        "answer begins in the next chunk."
    ),
)

LONG_ANSWER = """# How a four-layer prompt travels

A request is built from four layers, in this order. The order is what makes caching possible: \
what changes least stands first.

## The layers

1. **Static**: purpose, background, roles and rules. It changes when somebody edits them.
2. **Dynamic**: panels such as todos and files, and the current time.
3. **Buffered**: the recent turns, one content for each step.
4. **Trigger**: what asks for the answer now.

| layer | changes | cached |
|---|---|---|
| static | rarely | explicitly, by name |
| dynamic | with its panels | no |
| buffered | every turn | implicitly, as a prefix |
| trigger | every request | no |

## What comes back

A stream is a list of events. Each one is a complete JSON object:

```python
def fold(chunks):
    \"\"\"Join the text of a stream; the last usage wins.\"\"\"
    text, usage = "", {}
    for chunk in chunks:
        usage = chunk.get("usageMetadata", usage)
        for candidate in chunk.get("candidates", []):
            parts = candidate.get("content", {}).get("parts", [])
            text += "".join(part.get("text", "") for part in parts)
    return text, usage
```

> Counts are cumulative: the last chunk has the figures that are billed.

### Where the signature is

- in a text answer, on an **empty part** in the last chunk;
- in a function call, on the *first* call of the step;
- never on a thought.

Leaving one out is harmless in an old turn and an error in the current one: `400 INVALID_ARGUMENT`.

## A few awkward characters

Money such as $5 to $10 is not mathematics. Neither is 3 < 4 > 2. Umlauts (äöü), ligatures (ﬁ), \
Bahasa Indonesia, 日本語, and emoji such as 👩‍🚀 and 🇮🇩 must survive being cut between chunks.

## Summary

Keep what is stable in front, return signatures where they came from, and read the last usage. \
The rest is bookkeeping.
"""
