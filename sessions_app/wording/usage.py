"""What an answer took, for people who know nothing of prompts and caches."""

TOKENS = {
    "plain": "{prompt:,} tokens read, {output:,} written",
    "thought": "{prompt:,} tokens read, {output:,} written, {thoughts:,} for thinking",
}

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

LAST_COUNT = "{figures}, by the provider’s last count"
"""Of an answer that was cut off: what came after that count is not in the figures."""


def tokens(prompt: int, output: int, thoughts: int) -> str:
    return TOKENS["thought" if thoughts else "plain"].format(prompt=prompt, output=output, thoughts=thoughts)


def prompt(counted: int, cached: int) -> str:
    """What was read, and what of it came from a cache, by the provider's counts."""
    case = "split" if cached <= counted else "odd"
    return PROMPTS[case].format(prompt=counted, new=counted - cached, cached=cached)


def cached(part: int, prompt: int) -> str:
    """`prompt` is not 0."""
    share = 100 * part // prompt
    case = "all" if share >= 100 else "some" if share else "little" if part else "none"
    return CACHED[case].format(share=share)


def as_counted(figures: str, *, is_cut_off: bool) -> str:
    return LAST_COUNT.format(figures=figures) if is_cut_off else figures


def cost(total: str) -> str:
    return COST.format(total=total)
