"""The same payload in another provider's format (README.md lists the rules of B4 to B6).

Payload or stored manifest → original → messages (assembly) → openai | anthropic
                             original → inline_body, Gemini's own bytes
"""
