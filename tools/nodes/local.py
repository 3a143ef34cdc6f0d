"""A server from Maven Central as a plain process.

Root may not run a server, and the account that may (`nobody`) cannot enter a cache below /root. So every
node gets a home of its own in the temporary folder, given to that account: hard links to the read-only files
of the cache (copies where the cache is on another disk), and real copies of the configuration, which a node
changes. Its data is in memory where there is room, since a server waits for the disk at each change of an index.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from .launch import (
    Layout,
    keystore_command,
    keystore_environment,
    remove_agent,
    server_command,
    server_environment,
    settings_file,
)
from .machine import LOOPBACK, choose_port, give_to, memory_folder, server_account
from .node import LOG_LINES, STOP_SECONDS, NodeError, NodeSpec, OwnedNode

_KILL_ATTEMPTS = 100
_KILL_PAUSE_SECONDS = 0.02


class LocalNode(OwnedNode):
    source = "maven"

    def __init__(self, spec: NodeSpec, java_home: Path, distribution: Path) -> None:
        self._port = choose_port(spec.port)
        super().__init__(spec.release, f"http://{LOOPBACK}:{self._port}", spec.credentials)
        self._spec = spec
        self._java_home = java_home
        self._distribution = distribution
        self._account = server_account()
        self._process: subprocess.Popen[bytes] | None = None
        prefix = f"es-simhash-{spec.release.name}-"
        root = Path(tempfile.mkdtemp(prefix=prefix))
        in_memory = None if spec.is_measured else memory_folder()
        data = root / "data" if in_memory is None else Path(tempfile.mkdtemp(prefix=prefix, dir=in_memory))
        self._layout = Layout(root, data)

    @property
    def pid(self) -> int | None:
        try:
            return int(self._layout.pid_file.read_text())
        except (FileNotFoundError, ValueError):  # not written yet, or only half
            return None

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def log_tail(self, lines: int = LOG_LINES) -> str:
        logged = self._layout.console.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(logged[-lines:])

    def kill(self) -> None:
        if self._process is not None:
            self._kill_session(self._process)
            self._process = None

    def _launch(self) -> None:
        if not self._layout.home.exists():
            self._prepare()
        self._layout.pid_file.unlink(missing_ok=True)
        with self._layout.console.open("ab") as console:
            self._process = subprocess.Popen(
                [*_dying_with_us(), *server_command(self._spec, self._layout, self._java_home)],
                cwd=self._layout.home,
                env=server_environment(self._spec, self._layout, self._java_home),
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for us alone: we stop the node, in good order
                **self._account,
            )

    def _halt(self) -> None:
        """Ask the process to end, and if it will not, end its whole session."""
        if self._process is None:
            return
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        self._kill_session(self._process)
        self._process = None

    def _kill_session(self, process: subprocess.Popen[bytes]) -> None:
        """Kill what is left, until nothing is: Elasticsearch is a launcher and the server, its child."""
        with contextlib.suppress(ProcessLookupError):
            for _ in range(_KILL_ATTEMPTS):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                time.sleep(_KILL_PAUSE_SECONDS)

    def _remove(self) -> None:
        for folder in (self._layout.root, self._layout.data):
            shutil.rmtree(folder, ignore_errors=True)

    def _prepare(self) -> None:
        layout = self._layout
        _link_tree(self._distribution, layout.home)
        for folder in (layout.data, layout.logs, layout.temporary):
            folder.mkdir(exist_ok=True)
        settings = layout.config / f"{self.release.engine}.yml"
        settings.write_text(settings_file(self._spec, layout, self._port), encoding="utf-8")
        self._secure(layout)
        if not self._spec.is_measured:
            remove_agent(layout)
        for path in (layout.root, layout.data, *layout.root.rglob("*")):
            if path.is_dir() or layout.config in path.parents:
                give_to(self._account, path)
        if self.password is not None:
            self._store_password(self.password)

    def _secure(self, layout: Layout) -> None:
        """Add to the configuration what security needs, before the server's account owns it."""

    def _store_password(self, password: str) -> None:
        answer = subprocess.run(
            keystore_command(),
            cwd=self._layout.home,
            env=keystore_environment(self._layout, self._java_home),
            input=password,
            capture_output=True,
            text=True,
            check=False,
            **self._account,
        )
        if answer.returncode != 0:
            raise NodeError(f"{self.release} could not store its password. Its keystore tool said: {answer.stderr}")


def _link_tree(distribution: Path, home: Path) -> None:
    """Make a home that shares its big files with the cache and has a configuration of its own."""
    shutil.copytree(distribution, home, copy_function=_link)
    shutil.rmtree(home / "config")
    shutil.copytree(distribution / "config", home / "config", copy_function=shutil.copyfile)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk, or a cache that belongs to somebody else
        shutil.copy2(source, target)


def _dying_with_us() -> list[str]:
    """Return a prefix to a command that ends it when we are killed without a chance to stop it (Linux only).

    The kernel ties it to the thread that starts the command, so it is of use in the main thread only.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or threading.current_thread() is not threading.main_thread():
        return []
    return [setpriv, "--pdeathsig", "TERM", "--"]
