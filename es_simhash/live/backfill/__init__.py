"""Fingerprinting all documents of a live index, and finishing despite changes and failures.

Progress lies in the documents themselves: those without the current scheme are due, so a run can be stopped anywhere
and begun again. Each update is conditional on the version that was read, and changes our own fields only.
"""
