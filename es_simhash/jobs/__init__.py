"""The long verbs: what reads many documents, tells how far it is, and leaves the rest intact when some fail."""
