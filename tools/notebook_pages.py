"""Runs the tutorial notebooks, and makes the pages that show them with what they printed and displayed.

``python -m tools.notebook_pages`` writes both: ``docs/tutorials/*.ipynb`` with their results, and a page for each.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tools import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
_SECONDS = 300

Notebook: TypeAlias = dict[str, Any]


def executed(path: Path) -> str:
    """Run a notebook in an empty directory, and return it with its results, without times and versions."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        client = nbclient.NotebookClient(notebook, timeout=_SECONDS, resources={"metadata": {"path": folder}})
        client.execute(env=environment)
    written = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    return json.dumps(_normal(json.loads(written)), indent=1, ensure_ascii=False) + "\n"


def _normal(notebook: Notebook) -> Notebook:
    """Leave out what differs from run to run."""
    for number, cell in enumerate(notebook["cells"]):
        cell |= {"id": f"cell-{number}", "metadata": {}}
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output["data"] = {"text/html": output["data"]["text/html"]}
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def page_of(path: Path) -> str:
    """Return the page that shows a notebook as it is stored."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    note = f"<!-- Made of {path.name} by tools/notebook_pages.py. -->"
    parts = [part for cell in cells for part in _parts(cell)]
    return "\n\n".join([parts[0], note, *parts[1:]]) + "\n"


def _parts(cell: Notebook) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            yield f"```text\n{''.join(output['text']).rstrip()}\n```"
        else:
            # Cells are aligned by the stylesheet of the site. A blank line would end the markup.
            html = re.sub(r'(?<=<t[dh]) style="[^"]*"', "", "".join(output["data"]["text/html"]))
            yield re.sub(r"\n+", " ", html)


if __name__ == "__main__":
    for each in NOTEBOOKS:
        each.write_text(executed(each), encoding="utf-8")
        each.with_suffix(".md").write_text(page_of(each), encoding="utf-8")
