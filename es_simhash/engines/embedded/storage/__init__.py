"""The files of an index: written durably, sealed when closed, and checked when opened."""
