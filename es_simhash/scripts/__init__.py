"""What a server can do with stored fingerprints by itself: Painless scripts for exact distances, and search templates.

All of it is only made here, as text and JSON. Distances are those of SimHashes, which scripts read from doc values. The
values of a signature are in no field that scripts can read in a search: a document's band keys, in their order, are
only in its ``_source``.
"""
