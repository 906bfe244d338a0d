"""The sentences of pages, exports and commands, one module per subject; rows hold codes and figures.

Every module has dicts in capitals, code → template with named figures, and functions that fill them.
"""
