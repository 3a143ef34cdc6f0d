"""What must hold of an index whenever nobody is writing to it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from es_simhash._core.json_codec import Json
from es_simhash.documents.documents import Documents
from es_simhash.scheme import mapping
from es_simhash.scheme.scheme import Scheme
from tests.support.commands import lines
from tests.system.soak.hours.actors import Scene
from tests.system.soak.hours.jobs import OtherScheme, group
from tests.system.soak.hours.ledger import Entry
from tests.system.soak.hours.place import FIELDS
from tests.system.soak.hours.programs import PATIENCE

THERE = "nothing lost"
ONCE = "none twice"
FOREIGN = "other fields untouched"
FINGERPRINTS = "fingerprints"
HEALTHY = "`doctor` healthy"
ACCEPTED = "accepted once"
GROUPS = "`group --incremental`"
FAMILIES = "groups as planted"
SCHEME = "other scheme complete"
REMOVED = "`remove` complete"

PREFIX = "dedup"
_MOST_RUNS = 5
# By gates, documents are accepted one a family.
GATES = ("gate", "killed gate")


def check(scene: Scene, scheme: OtherScheme) -> None:
    """Hold that all is as it must be; nobody may be at work."""
    backfilled(scene)
    hold_documents(scene, scene.place.hits())
    _hold_doctor(scene)
    _hold_groups(scene)
    _hold_other_scheme(scene, scheme)
    scene.tally.checkpoints += 1


def backfilled(scene: Scene, prefix: str = PREFIX) -> None:
    """Backfill until nothing is left to do."""
    for _ in range(_MOST_RUNS):
        run = scene.programs.done(
            "backfill", scene.place.index, "--prefix", prefix, "--refresh-stale", "--patience", PATIENCE
        )
        if run.code == 0 and not lines(run)[-1]["unsettled"]:
            return
    raise TimeoutError(f"backfills of {prefix} do not come to an end: {run}")


def hold_documents(scene: Scene, hits: Sequence[Json]) -> None:
    """Compare all documents of the index with those that it acknowledged."""
    hold, known = scene.tally.hold, scene.ledger.entries()
    there = {hit["_id"]: hit for hit in hits}
    hold(THERE, _differences(there.keys(), known.keys()), len(known))
    hold(ONCE, _repeated(hits), len(hits))
    pairs = [(known[id_], hit) for id_, hit in there.items() if id_ in known]
    hold(FOREIGN, _altered(pairs), len(pairs))
    hold(FINGERPRINTS, wrong_fields([hit for _, hit in pairs], documents_of("default", PREFIX)), len(pairs))
    accepted = Counter((entry.by, entry.family) for entry, _ in pairs if entry.by in GATES and entry.is_current)
    hold(ACCEPTED, [f"{key} {count} times" for key, count in accepted.items() if count > 1], len(accepted))


def documents_of(preset: str, prefix: str) -> Documents:
    """Return what makes the fields of a scheme again."""
    return Documents(Scheme.preset(preset), FIELDS, prefix)


def _differences(there: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    if lost := sorted(set(known) - set(there)):
        yield f"{len(lost)} are lost, as {lost[:5]}"
    if others := sorted(set(there) - set(known)):
        yield f"{len(others)} are there that nobody has written, or that were deleted, as {others[:5]}"


def _repeated(hits: Sequence[Json]) -> Iterator[str]:
    for what, values in (
        ("the id", Counter(hit["_id"] for hit in hits)),
        ("the number", Counter(hit["_source"].get("number") for hit in hits)),
    ):
        if several := [value for value, count in values.items() if count > 1]:
            yield f"{len(several)} documents have {what} of another, as {several[:5]}"


def _altered(pairs: Sequence[tuple[Entry, Json]]) -> Iterator[str]:
    for entry, hit in pairs:
        theirs = {name: value for name, value in hit["_source"].items() if not name.startswith(PREFIX)}
        if theirs != entry.source:
            changed = sorted(name for name in {*theirs, *entry.source} if theirs.get(name) != entry.source.get(name))
            yield f"{entry.id} has another {', '.join(changed)}"


def wrong_fields(hits: Sequence[Json], documents: Documents) -> Iterator[str]:
    """Find documents without the fields of their texts."""
    expected = documents.fields_of([documents.text_of(hit["_source"]) for hit in hits])
    for hit, fields in zip(hits, expected, strict=True):
        own = hit["_source"].get(documents.prefix) or {}
        stored = {name: value for name, value in own.items() if name not in mapping.NAMES and value is not None}
        if stored != fields:
            yield f"{hit['_id']} has not the fields of its text under {documents.prefix}: {own.get('status')}"


def _hold_doctor(scene: Scene) -> None:
    run = scene.programs.once("doctor", scene.place.index)
    stops = [each for each in lines(run) if each["level"] == "stop"] if run else []
    is_wrong = run is None or run.code or stops
    scene.tally.hold(HEALTHY, [f"{run}"] if is_wrong else [])


def _hold_groups(scene: Scene) -> None:
    """Compare stored groups, those of a run over the whole index, and the families."""
    group(scene, "--incremental", "--write")
    stored = stored_groups(scene.place.hits())
    whole = sorted(sorted(ids) for ids in group(scene))
    scene.tally.hold(GROUPS, _first_differences(stored, whole), len(whole))
    families = sorted(sorted(family.ids) for family in scene.ledger.families().values() if len(family.members) > 1)
    scene.tally.hold(FAMILIES, _first_differences(whole, families), len(families))


def stored_groups(hits: Iterable[Json]) -> list[list[str]]:
    """Return the ids of the documents of each group of several, by what they have stored."""
    found: dict[str, list[str]] = {}
    for hit in hits:
        own: Mapping[str, str] = hit["_source"].get(PREFIX) or {}
        if own.get(mapping.GROUP):
            found.setdefault(own[mapping.GROUP], []).append(hit["_id"])
    return sorted(sorted(ids) for ids in found.values() if len(ids) > 1)


def _first_differences(found: list[list[str]], expected: list[list[str]]) -> Iterator[str]:
    more = [ids for ids in found if ids not in expected]
    less = [ids for ids in expected if ids not in found]
    if more or less:
        yield f"{json.dumps(more[:3])} instead of {json.dumps(less[:3])}, {len(more)} and {len(less)}"


def _hold_other_scheme(scene: Scene, scheme: OtherScheme) -> None:
    if scheme.preset is None:
        left = [hit["_id"] for hit in scene.place.hits() if any(_is_other(name, hit) for name in hit["_source"])]
        scene.tally.hold(REMOVED, [f"{len(left)} have some, as {left[:5]}"] if left else [])
        return
    backfilled(scene, scheme.prefix)
    hits = scene.place.hits()
    scene.tally.hold(SCHEME, wrong_fields(hits, documents_of(scheme.preset, scheme.prefix)), len(hits))
    scheme.is_verified = True


def _is_other(name: str, hit: Json) -> bool:
    return name.startswith(f"{PREFIX}_") and bool(hit["_source"][name])
