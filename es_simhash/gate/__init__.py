"""A gate before an index: it decides of each document, before it is written, whether the index has it already.

**What it promises.** Of documents that are near-duplicates of each other, by the verdict of `Index.find`, one is
accepted and the others are not: in one request, from two clients in the same second, or before and after a
``kill -9``. New documents are accepted.

**How.** A document is judged by the index, and by what was accepted and the index does not show yet; one request at a
time, document by document. Each yes is noted in a journal before it leaves. It is remembered until a search of the
index finds the document, under its id and with its text; or for a time, after which it is forgotten and counted.

**Ids.** The same id is the same document, and gets the same answer again. So a client that missed an answer may always
repeat its request. A document without an id gets a random one, which the answer names; a client that has to repeat such
a request finds its own document, and is answered ``equal``.
"""

from __future__ import annotations

from es_simhash._core import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from es_simhash.gate.asgi import application
    from es_simhash.gate.gate import Gate
    from es_simhash.gate.judging import GateOptions, Verdict

_NAMES = {
    "gate.asgi": "application",
    "gate.gate": "Gate",
    "gate.judging": "GateOptions Verdict",
}

__all__ = ["Gate", "GateOptions", "Verdict", "application"]

__getattr__, __dir__ = lazily(__name__, _NAMES)
