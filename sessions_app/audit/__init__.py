"""An audit of stored sessions: every figure computed a second time, from raw rows only.

Raw are the bytes of chunks, the bytes of sources with the manifests that order them, the tree of turns, the
life of caches, model facts and price rows. The rest of an exchange's columns are conclusions; they are
recomputed here by plain code (json, sums, comparison of text) which shares nothing with
`sessions_app.prompt`, so that one mistake is not made twice. An import contract keeps it so.
`manage.py audit` prints the differences.

The culprit of a break is chosen here again, from the lists of sources. Its place is exact: item, part and
character have to be those found here, and in a text the bytes of its layer before it have to be those
characters. The tokens before it are an estimate, of which the bounds are checked: the items before the broken
one, without it and with it.
"""
