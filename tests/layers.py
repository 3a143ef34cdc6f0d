"""The folders of the package, in the order of their imports: each may import what stands before it, and itself."""

from __future__ import annotations

# These do no I/O, but for `documents/files`.
PURE = ("_core", "text", "sketches", "scheme", "documents", "plans")
IMPURE = ("engines", "live", "groups", "quality", "index", "integrations", "cli", "testing")
LAYERS = ("errors", "_version", *PURE, *IMPURE)

if __name__ == "__main__":  # what `make coverage` measures
    print(",".join(f"es_simhash/{name}/*" for name in PURE))
