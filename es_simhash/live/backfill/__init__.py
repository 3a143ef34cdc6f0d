"""Giving every document of a live index its fingerprint, whatever happens on the way.

Progress lies in the documents themselves: those without the current scheme are still to be done, so that a run can be
stopped anywhere and begun again. Each document is updated under the condition that nobody has changed it since it was
read, and only in our own fields.
"""
