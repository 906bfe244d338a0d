"""Rendering of prompt templates in worker processes, with limits of time and memory."""
