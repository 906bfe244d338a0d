"""What the provider did about caching in one exchange, and why, in words for a person.

Two facts are kept apart (ux-peers §6.5): whether our bytes changed, which is known exactly, and
whether the provider reused them, which is its count. A miss on unchanged bytes is the provider's, or
time's, and is never blamed on the prompt.
"""

from dataclasses import dataclass
from datetime import timedelta

from sessions_app.prompt.breaks import BreakLine
from sessions_app.prompt.caching import CachePlan, VerdictCode
from sessions_app.prompt.payload import TOOLS_SOURCE
from sessions_app.prompt.reply import Usage

IMPLICIT_LIFE = timedelta(minutes=5)
"""The provider promises nothing but “a short interval” (gemini-wire §7); after this, time explains a miss."""

THEIRS = " The provider: "
"""Where the two facts part in the words of a verdict."""

WHOLE = 0.9
"""Share of an unchanged prefix that counts as all of it: the provider caches in blocks of its own size."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an exchange hit a cache, and why, in words for a person."""

    code: VerdictCode
    words: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """This request beside the one before it on its branch. Tokens are estimates, `was_prompt` is the
    provider's count for the earlier one; `idle` is the time between the earlier answer and this request.
    """

    number: int
    prefix_tokens: int
    tokens: int
    was_prompt: int | None
    idle: timedelta
    same_model: bool = True
    same_config: bool = True
    broken: BreakLine | None = None

    def scaled(self, prompt: int) -> int:
        """The unchanged prefix in the provider's tokens, as far as the shares are the same."""
        return round(self.prefix_tokens * prompt / self.tokens) if self.tokens else 0

    @property
    def words(self) -> str:
        """Our bytes, as a sentence."""
        earlier = f"exchange {self.number}"
        if self.broken is None:
            same = f"all that {earlier} sent (about {self.prefix_tokens:,} tokens) stands first again"
        else:
            same = f"the first {self.prefix_tokens:,} tokens (about) are those of {earlier}"
            same += f"; they part at {self.broken.place}: {self.broken.words}"
        if not self.same_model:
            return f"Our bytes: {same}, but another model answers."
        return f"Our bytes: {same}{'' if self.same_config else ', with other generation settings'}."


def judge(
    decided: CachePlan,
    usage: Usage,
    seen: Comparison | None = None,
    *,
    minimum: int | None = 0,
    cache_gone: bool = False,
) -> Verdict:
    """Say what happened, from the plan, the provider's count and the request before this one.

    `seen` is None for the first request of a branch. `minimum` is the shortest prefix in tokens that
    the model caches of its own accord, None where it is not known to do so. `cache_gone` is whether
    the provider answered 403 for the planned name and the request was sent again inline.
    """
    if cache_gone:
        words = "The provider no longer had the cache; the static layer was sent again inline."
        return Verdict(VerdictCode.CACHE_EXPIRED, words)
    if not usage.raw:
        return Verdict(VerdictCode.UNKNOWN, "The provider reported no usage.")
    code, why = _hit(decided, usage, seen) if usage.cached else _miss(decided, usage, seen, minimum)
    ours = seen.words if seen else "Our bytes: nothing was sent before this on its branch."
    theirs = f"{THEIRS}{usage.cached:,} of {usage.prompt:,} tokens cached."
    return Verdict(code, " ".join(filter(None, (ours + theirs, why))))


def two_facts(words: str) -> tuple[str, str]:
    """A verdict's words as what our bytes did and what the provider did; the second may be empty."""
    ours, sign, theirs = words.partition(THEIRS)
    return ours, f"{sign}{theirs}".lstrip()


def _hit(decided: CachePlan, usage: Usage, seen: Comparison | None) -> tuple[VerdictCode, str]:
    if decided.is_hit:
        return VerdictCode.HIT, "The request named a cache."
    if seen is None:
        return VerdictCode.PARTIAL, "It reused on its own what another request had begun with."
    if seen.broken is None and usage.cached >= WHOLE * seen.scaled(usage.prompt):
        return VerdictCode.HIT, "It reused the whole unchanged prefix on its own."
    return VerdictCode.PARTIAL, "It reused a part on its own."


def _miss(
    decided: CachePlan, usage: Usage, seen: Comparison | None, minimum: int | None
) -> tuple[VerdictCode, str]:
    if decided.is_hit:
        return VerdictCode.PROVIDER_MISS, "The request named a cache, but no cached token was counted."
    if seen is None:
        return VerdictCode.FIRST, ""
    if minimum is None:
        return VerdictCode.UNSUPPORTED, "This model is not known to cache anything."
    if usage.prompt < minimum:
        return VerdictCode.BELOW_MINIMUM, f"It keeps prefixes from {minimum:,} tokens on."
    return _ours(usage, seen, minimum) or _theirs(seen, minimum)


def _ours(usage: Usage, seen: Comparison, minimum: int) -> tuple[VerdictCode, str] | None:
    """The change of ours that explains a miss; None when what was left alone was long enough to hit."""
    if not seen.same_model:
        return VerdictCode.MODEL_CHANGED, "A cache belongs to one model."
    broken = seen.broken
    if broken is None:
        return None if seen.same_config else (VerdictCode.CONFIG_CHANGED, "")
    if seen.scaled(usage.prompt) >= minimum:
        return None
    if broken.source == TOOLS_SOURCE:
        return VerdictCode.CONFIG_CHANGED, "Tools stand before everything else."
    if broken.kind != "changed" and broken.source.startswith("turn:"):
        return VerdictCode.SHORTENED, "The history was edited, rewound or branched."
    return VerdictCode.LAYER_CHANGED, f"The {broken.layer} layer changed."


def _theirs(seen: Comparison, minimum: int) -> tuple[VerdictCode, str]:
    if seen.was_prompt is not None and seen.was_prompt < minimum:
        words = (
            f"Exchange {seen.number} had {seen.was_prompt:,} tokens; prefixes are kept from {minimum:,} on."
        )
        return VerdictCode.BELOW_MINIMUM, words
    if seen.idle > IMPLICIT_LIFE:
        minutes = round(seen.idle.total_seconds() / 60)
        return VerdictCode.TTL_LIKELY, f"{minutes:,} minutes lay between them: it has probably forgotten."
    return VerdictCode.PROVIDER_MISS, "An unchanged prefix, soon after, and still a miss: not our doing."
