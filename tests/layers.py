"""The folders of the package, in the order of their imports: each may import what stands before it, and itself.

Optional folders import the core, and not each other; only the verbs of ``cli`` that need it import it.
"""

from __future__ import annotations

# These do no I/O, but for `documents/files`.
PURE = ("_core", "text", "sketches", "scheme", "documents", "plans")
CORE = ("errors", "_version", *PURE, "engines", "live", "groups", "index")
OPTIONAL = ("quality", "gate", "integrations")
LAYERS = (*CORE, *OPTIONAL, "cli")

if __name__ == "__main__":  # what `make coverage` measures
    print(",".join(f"es_simhash/{name}/*" for name in PURE))
