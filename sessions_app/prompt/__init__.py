"""The prompt core: turns in, four layers and a payload out, chunks back into a reply.

Pure functions: no Django, no clock, no I/O except reading the two templates once.
"""
