"""Long runs of ``es-simhash backfill``, as a real process against real servers, with what can happen on the way.

`make soak` runs the full form; `make test` a shortened one.
"""
