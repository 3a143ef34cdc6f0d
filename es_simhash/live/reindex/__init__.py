"""Copying a live index into a new one with the fields of fingerprints, and moving aliases to it.

Each document is written with its version in the source, so that a copy never replaces a newer one, and a run can be
stopped anywhere and begun again. Nothing is deleted.
"""
