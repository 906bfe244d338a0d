"""Histories of other programs as contents of Gemini: pure, one module per format.

A reader is a generator: it takes the entries of the file's list one by one (`Node`) and gives contents in
order. What it changes or leaves out it counts in `Notes`; what it cannot read it refuses with the place.
"""
