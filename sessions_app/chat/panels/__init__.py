"""The panels beside a chat: what the model reads with every message, seen and edited by a person."""
