"""A soak of hours: a server under mixed load and faults, with invariants checked all along, and a report.

``make soak-hours HOURS=2`` runs it on both servers at once.
"""
