"""The prompt core: turns in, four layers and a payload out, chunks back into a reply.

Pure: no Django, no I/O beyond reading the two templates once, no clock.
"""
