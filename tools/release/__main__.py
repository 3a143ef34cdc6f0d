"""Build, compare, install and try the distributions of the last commit; ``make release-check`` runs it.

``--tag v1.2.3``, which CI gives when it releases, also asks for the version and the changelog of that release.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from tools import ROOT
from tools.release import building, papers, trials
from tools.release.commands import CommandError
from tools.release.sources import Sources, epoch
from tools.release.version import ReleaseError, check_changelog, released_version

DIST = ROOT / "dist"


def check_release(tag: str | None, folder: Path) -> None:
    """Make and try everything; ``folder`` is for what is not kept."""
    version = released_version(ROOT, tag)
    check_changelog((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version, is_tagged=tag is not None)
    _done(f"version {version}: one for all distributions, and in the changelog")

    sources = Sources.of_last_commit(ROOT, folder)
    targets = building.targets_here()
    shutil.rmtree(DIST, ignore_errors=True)
    _step(f"built for {', '.join(targets)}", lambda: building.build(sources.first, DIST, targets))
    again = folder / "again"
    _step("built again elsewhere", lambda: building.build(sources.second, again, targets))
    building.check_same(DIST, again)
    _done(f"the same {len(list(DIST.iterdir()))} files byte for byte (SOURCE_DATE_EPOCH={epoch(ROOT)})")

    for trial in trials.ALL:
        _step((trial.__doc__ or "").splitlines()[0], lambda trial=trial: trial(DIST, version, folder))  # type: ignore[misc]
    _step("SBOM and checksums", lambda: papers.write(DIST, version, trials.plain_python(folder)))
    print(*sorted(path.name for path in DIST.iterdir()), sep="\n")


def _step(name: str, work: Callable[[], object]) -> None:
    start = monotonic()
    work()
    _done(f"{name} ({monotonic() - start:.0f} s)")


def _done(what: str) -> None:
    print(f"ok  {what}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    options.add_argument("--tag", help="the tag that is released, such as v1.2.3")
    with TemporaryDirectory(prefix="release-") as folder:
        try:
            check_release(options.parse_args().tag, Path(folder))
        except (ReleaseError, CommandError) as error:
            sys.exit(f"FAILED  {error}")


if __name__ == "__main__":
    main()
