"""An audit of stored sessions: every figure computed a second time, from raw rows only.

Raw are the bytes of chunks, the bytes of sources with the manifests that order them, the life of caches, and
price rows. The rest of an exchange's columns are conclusions; they are recomputed here by plain code (json,
sums, comparison of text) which shares nothing with `sessions_app.prompt`, so that one mistake is not made
twice. An import contract keeps it so. `manage.py audit` prints the differences.
"""
