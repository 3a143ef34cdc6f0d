"""Makes a labelled set of source code: the files of two versions of some Python packages, from the package index.

``python -m benchmarks.package_versions DIRECTORY`` writes ``docs.jsonl.gz`` and ``clusters.jsonl``, as the other sets
have them, for ``python -m benchmarks quality --corpora``. Two files are duplicates if they have the same path in both
versions; so files that were rewritten count as missed, and those that were moved or copied as found in error.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

VERSIONS = {
    "click": ("8.0.4", "8.1.8"),
    "django": ("4.2.17", "5.1.4"),
    "flask": ("2.3.3", "3.1.0"),
    "jinja2": ("3.0.3", "3.1.5"),
    "pytest": ("7.4.4", "8.3.4"),
    "requests": ("2.28.2", "2.32.3"),
    "rich": ("12.6.0", "13.9.4"),
    "sqlalchemy": ("1.4.54", "2.0.36"),
    "urllib3": ("1.26.20", "2.2.3"),
}
LEAST = 500  # characters; shorter files are mostly imports
LEFT_OUT = ("/locale/",)  # settings of a hundred languages, all alike


def main(directory: str) -> None:
    """Download, and write the set."""
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    clusters: dict[tuple[str, str], list[str]] = defaultdict(list)
    with gzip.open(target / "docs.jsonl.gz", "wt", encoding="utf-8") as docs:
        for package, versions in VERSIONS.items():
            for version in versions:
                for path, text in _files(package, version):
                    id = f"{package}-{version}/{path}"
                    clusters[package, path].append(id)
                    docs.write(json.dumps({"id": id, "text": text}, ensure_ascii=False) + "\n")
    with (target / "clusters.jsonl").open("w", encoding="utf-8") as file:
        for number, ids in enumerate(ids for ids in clusters.values() if len(ids) > 1):
            file.write(json.dumps({"cluster": number, "ids": ids}) + "\n")


def _files(package: str, version: str) -> Iterator[tuple[str, str]]:
    """The paths and texts of the Python files of a package."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*command, "--dest", folder, f"{package}=={version}"], check=True)
        [wheel] = Path(folder).glob("*.whl")
        with ZipFile(wheel) as archive:
            for path in sorted(archive.namelist()):
                if path.endswith(".py") and not any(part in path for part in LEFT_OUT):
                    text = archive.read(path).decode("utf-8", "replace")
                    if len(text) >= LEAST:
                        yield path, text


if __name__ == "__main__":
    main(*sys.argv[1:])
