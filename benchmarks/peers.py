"""Libraries that want other packages than ours: each has an environment of its own, made when it is first run."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".venv-peers"


@dataclass(frozen=True)
class Peer:
    """A library and what is installed with it, all of one version so that runs can be compared."""

    name: str
    version: str
    others: tuple[str, ...]

    @property
    def requirements(self) -> tuple[str, ...]:
        """What pip is asked for."""
        return (f"{self.name}=={self.version}", *self.others)

    def python(self, folder: Path = FOLDER) -> str:
        """The interpreter of its environment, which is made anew unless it was made by these requirements."""
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
        # Of spaCy only the presence is asked for.
        Peer("datatrove", "0.10.1", ("datatrove[processing]", "numpy==2.4.6", "orjson==3.13.0", "spacy==3.8.18")),
        Peer("text-dedup", "0.4.0", ("datasets==5.2.0", "numpy==2.4.6", "pyarrow==26.0.1")),
    )
}
