"""A standalone cluster of Spark on loopback: a master and workers, each a process of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import pyspark

_HOME = Path(pyspark.__file__).parent


class Cluster:
    """A master, and workers with one core each; to be used in a ``with`` statement."""

    def __init__(self, directory: Path, workers: int) -> None:
        self._directory = directory
        self._count = workers
        self._processes = ExitStack()
        self.workers: list[subprocess.Popen[bytes]] = []
        self.url = f"spark://127.0.0.1:{free_port()}"

    def __enter__(self) -> Cluster:
        host, port = self.url.removeprefix("spark://").split(":")
        self._start("master", "master.Master", "--host", host, "--port", port, "--webui-port", "0")
        for number in range(self._count):
            own = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            work = ["--work-dir", str(self._directory / f"work-{number}")]
            self.workers.append(self._start(f"worker-{number}", "worker.Worker", *own, *work, self.url))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._processes.close()

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        java = [str(Path(os.environ["JAVA_HOME"], "bin", "java"))] if "JAVA_HOME" in os.environ else ["java"]
        # What a killed worker leaves lies in the directory of the cluster.
        java += ["-Xmx256m", f"-Djava.io.tmpdir={self._directory}"]
        command = [*java, "-cp", f"{_HOME}/jars/*", f"org.apache.spark.deploy.{main}", *arguments]
        [core] = _HOME.glob("jars/spark-core_*.jar")
        own: dict[str, Any] = {
            "SPARK_HOME": str(_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            # Without it, workers look for a build of Spark.
            "SPARK_SCALA_VERSION": core.name.removeprefix("spark-core_").partition("-")[0],
        }
        log = self._processes.enter_context((self._directory / f"{name}.log").open("wb"))
        # A group of its own, in which its executors are as well.
        process = subprocess.Popen(
            command, env=os.environ | own, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )
        self._processes.callback(kill, process)
        return process


def free_port() -> int:
    """Return a port of loopback that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with its executors, as when a machine is switched off."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
