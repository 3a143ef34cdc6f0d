"""Copying a live index into another that has the fields of fingerprints, and putting that in its place.

Each document is written with the version that it has in the source, so that a copy never takes the place of a newer
one, and a run can be stopped anywhere and begun again. Nothing is deleted.
"""
