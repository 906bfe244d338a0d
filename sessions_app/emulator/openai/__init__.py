"""The OpenAI-compatible door: another form for the same requests and replies.

    chat completion request → requests → GenerateRequest → (the emulator) → replies → chat completion

Signatures travel in `extra_content.google.thought_signature`, of a tool call or of the message
(seed 2, "Tanda tangan untuk kompatibilitas OpenAI"; gemini-wire §6).
"""
