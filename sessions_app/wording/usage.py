"""What an answer took, for people who know nothing of prompts and caches."""

TOKENS = {
    "read": "{prompt:,} tokens read",
    "tool_use": "{tools:,} more from Gemini’s own tools",
    "written": "{output:,} written",
    "thought": "{thoughts:,} for thinking",
}
"""What there is none of is left out, but for the first and what was written."""

CACHED = {
    "none": "Nothing of it was read from a cache",
    "some": "{share} % was read from a cache, at a lower price",
    "little": "Less than 1 % was read from a cache, at a lower price",
    "all": "All of it was read from a cache, at a lower price",
}
"""The share of what was read, rounded down: only all of it is all of it."""

COST = "Money: {total}"

PROMPTS = {
    "split": "{prompt:,} prompt = {new:,} new + {cached:,} cached",
    "odd": "{prompt:,} prompt, {cached:,} cached",
}
"""Where more was counted as cached than as read, the two do not add up, and nothing tells what was new."""

ANSWERS = {
    "answer": "{output:,} output + {thoughts:,} thoughts",
    "tool_use": "{answer} + {tools:,} tool use",
}
"""`tools` are the tokens that the provider's own tools put before the model, beside the prompt."""

LAST_COUNT = "{figures}, by the provider’s last count"
"""For an answer that was cut off: what came after that count is not in the figures."""


def tokens(prompt: int, output: int, thoughts: int, tools: int = 0) -> str:
    counts = {"prompt": prompt, "tools": tools, "output": output, "thoughts": thoughts}
    told = ("read", *["tool_use"] * bool(tools), "written", *["thought"] * bool(thoughts))
    return ", ".join(TOKENS[part].format(**counts) for part in told)


def prompt(counted: int, cached: int) -> str:
    """What was read, and what of it came from a cache, by the provider's counts."""
    case = "split" if cached <= counted else "odd"
    return PROMPTS[case].format(prompt=counted, new=counted - cached, cached=cached)


def answer(output: int, thoughts: int, tools: int) -> str:
    """What was written, and what the provider's own tools had read."""
    told = ANSWERS["answer"].format(output=output, thoughts=thoughts)
    return ANSWERS["tool_use"].format(answer=told, tools=tools) if tools else told


def cached(part: int, prompt: int) -> str:
    """`prompt` is not 0."""
    share = 100 * part // prompt
    case = "all" if share >= 100 else "some" if share else "little" if part else "none"
    return CACHED[case].format(share=share)


def as_counted(figures: str, *, is_cut_off: bool) -> str:
    return LAST_COUNT.format(figures=figures) if is_cut_off else figures


def cost(total: str) -> str:
    return COST.format(total=total)
