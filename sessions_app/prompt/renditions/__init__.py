"""The same payload in another provider's format: pure functions, from what was sent to JSON.

    Payload or stored manifest → original → messages (blocks, panel pairs, order) → openai | anthropic
                                 original → gemini, its own bytes

Every rule is decided once, in the messages; a provider's module only writes them down. README.md
lists which rules of the reference (B4 to B6) hold and which do not, and why.
"""
