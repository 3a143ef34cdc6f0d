"""Libraries with other requirements than ours, each in its own environment, made on first use."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".venv-peers"


@dataclass(frozen=True)
class Peer:
    """A library and the packages installed with it, in fixed versions so that runs are comparable."""

    name: str
    version: str
    others: tuple[str, ...]

    @property
    def requirements(self) -> tuple[str, ...]:
        """Requirements for pip."""
        return (f"{self.name}=={self.version}", *self.others)

    def python(self, folder: Path = FOLDER) -> str:
        """Return the interpreter of its environment; rebuild it if the requirements have changed."""
        environment = folder / self.name
        python, made_by = str(environment / "bin" / "python"), environment / "requirements.txt"
        wanted = "\n".join(self.requirements) + "\n"
        if not made_by.exists() or made_by.read_text(encoding="ascii") != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", *self.requirements], check=True)
            made_by.write_text(wanted, encoding="ascii")
        return python


PEERS = {
    peer.name: peer
    for peer in (
        # spaCy only has to be present.
        Peer("datatrove", "0.10.1", ("datatrove[processing]", "numpy==2.4.6", "orjson==3.13.0", "spacy==3.8.18")),
        Peer("text-dedup", "0.4.0", ("datasets==5.2.0", "numpy==2.4.6", "pyarrow==26.0.1")),
    )
}
