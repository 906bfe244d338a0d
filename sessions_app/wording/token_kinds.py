"""What a provider's count of tokens counts."""

from sessions_app.prompt.chunks import TokenKind

LABELS: dict[str, str] = {
    TokenKind.PROMPT: "Prompt",
    TokenKind.CACHED: "of it from a cache",
    TokenKind.TOOL_USE: "Prompt of the provider's tools",
    TokenKind.OUTPUT: "Answer",
    TokenKind.THOUGHTS: "Thoughts",
    TokenKind.TOTAL: "Total",
}
