"""Keys of a live index are changed while others write: of the old fields, of both, and at last of the new alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from es_simhash import MinHash, Scheme
from es_simhash._core.json_codec import Json
from es_simhash.engines.base import Engine
from es_simhash.index import Index
from es_simhash.plans.operations import Action, Bulk, Operation
from tests.support.meddling import Meddler
from tests.support.whole_indices import COUNT, DOCUMENTS, FIELDS, contents, fingerprinted

OLD, NEW = "dedup", "dedup2"


class Writers:
    """Programs that write before each request of ours; ``documents`` is what the index should have, without fields."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name
        self._numbers = count()
        self._ids = list(DOCUMENTS)
        self.documents = dict(DOCUMENTS)
        self.one: Callable[[Json], Json] = lambda document: document
        self.other = self.one

    def before(self, operation: Operation[object]) -> None:
        """Write a new document, change one, and delete one."""
        if not isinstance(operation, Bulk):
            return
        number = next(self._numbers)
        changed, deleted = self._ids[-1 - 2 * number], self._ids[-2 - 2 * number]
        written = {
            f"new {number}": {
                "title": f"News {number}",
                "body": f"A storm of force {number} hit the coast last night.",
            },
            changed: {**self.documents[changed], "body": f"What nobody knew before, in its version {number}."},
        }
        actions = [
            Action("index", id_, fields(document))
            for fields, (id_, document) in zip((self.one, self.other), written.items(), strict=True)
        ]
        self._engine.perform(Bulk(self._name, [*actions, Action("delete", deleted, None)]))
        self.documents |= written
        del self.documents[deleted]


def test_no_write_is_lost_and_no_fingerprint_is_stale_while_keys_are_changed(
    engine: Engine, meddler: Meddler, names: Callable[[], str]
) -> None:
    index = fingerprinted(engine, meddler, names(), DOCUMENTS)
    other = Scheme(minhash=MinHash(bands=24, rows=5))
    old, new = Index(index.name, engine), Index(index.name, engine, fields=FIELDS, scheme=other, prefix=NEW)
    new.init()
    assert new.scheme.id != old.scheme.id
    writers = Writers(engine, index.name)

    def with_both(document: Json) -> Json:
        return new.documents.add_fields(old.documents.add_fields(document))

    def stored(*prefixes: str) -> dict[str, Json]:
        found = contents(engine, index.name, list(writers.documents))
        bare = {
            id_: {name: value for name, value in each.items() if name not in (OLD, NEW)} for id_, each in found.items()
        }
        assert bare == writers.documents
        return {id_: {prefix: each.get(prefix) for prefix in prefixes} for id_, each in found.items()}

    def made(*indices: Index) -> dict[str, Json]:
        return {
            id_: {each.documents.prefix: each.documents.add_fields(document)[each.documents.prefix] for each in indices}
            for id_, document in writers.documents.items()
        }

    # Some writers make both fingerprints by now, others the old one alone.
    writers.one, writers.other = with_both, old.documents.add_fields
    meddler.before = writers.before
    assert Index(index.name, meddler, prefix=NEW).backfill().written > COUNT // 2
    searched = writers.documents["new 0"]
    for each in (old, new):
        each.refresh()
        assert "new 0" in {match.id for match in each.find(doc=searched)}
    meddler.before = lambda _: None
    Index(index.name, meddler, prefix=NEW).backfill()
    assert stored(OLD, NEW) == made(old, new)

    # From now on all writers make the new one alone.
    writers.one = writers.other = new.documents.add_fields
    meddler.before = writers.before
    index.remove_fields()
    meddler.before = lambda _: None
    assert stored(OLD, NEW) == {id_: {OLD: None, **each} for id_, each in made(new).items()}
    new.refresh()
    assert "new 0" in {match.id for match in new.find(doc=searched)}
