"""A server in a container, with the image that docker-compose.yml names."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .machine import LOOPBACK, choose_port
from .node import LOG_LINES, STOP_SECONDS, NodeSpec, NodeUnavailable, OwnedNode

if TYPE_CHECKING:
    from .releases import Release

COMPOSE_FILE = Path(__file__).parents[2] / "docker-compose.yml"
_VARIABLE_WITH_DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")


def start_container(spec: NodeSpec) -> OwnedNode:
    """Start the spec's server in a container, if a Docker engine runs here and has or gets the image."""
    if spec.release.plugins:
        raise NodeUnavailable("certificates and logins are made for a server from Maven Central only")
    try:
        import docker
        import docker.errors
    except ImportError:
        raise NodeUnavailable("the docker package is not installed") from None
    if _socket_is_missing():
        raise NodeUnavailable("no Docker engine runs")
    try:
        client = docker.from_env()
    except docker.errors.DockerException:
        raise NodeUnavailable("the Docker engine does not answer") from None
    node = ContainerNode(spec, client)
    try:
        node.start()
    except docker.errors.DockerException as error:
        raise NodeUnavailable(f"Docker could not run {image_of(spec.release)} ({error})") from error
    return node


def _socket_is_missing() -> bool:
    """Whether Docker is to be reached over a Unix socket that is not there.

    It is asked beforehand because docker-py leaves a socket open when it cannot connect.
    """
    host = os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    return host.startswith("unix://") and not Path(host.removeprefix("unix://")).exists()


class ContainerNode(OwnedNode):
    source = "docker"

    def __init__(self, spec: NodeSpec, client: Any) -> None:
        self._port = choose_port(spec.port)
        super().__init__(spec.release, f"http://{LOOPBACK}:{self._port}", spec.credentials)
        self._spec = spec
        self._client = client
        self._container: Any = None

    def is_running(self) -> bool:
        if self._container is None:
            return False
        self._container.reload()
        return bool(self._container.status == "running")

    def log_tail(self, lines: int = LOG_LINES) -> str:
        logs: bytes = self._container.logs(tail=lines)
        return logs.decode(errors="replace")

    def _launch(self) -> None:
        if self._container is not None:
            self._container.start()
            return
        self._container = self._client.containers.run(
            image_of(self.release),
            detach=True,
            environment=container_environment(self._spec),
            ports={"9200/tcp": (LOOPBACK, self._port)},
        )

    def _halt(self) -> None:
        if self._container is not None:
            self._container.stop(timeout=STOP_SECONDS)

    def _remove(self) -> None:
        if self._container is not None:
            self._container.remove(force=True, v=True)
            self._container = None
        self._client.close()


def compose_images() -> dict[str, str]:
    """Return the image of every service in docker-compose.yml, with the variables at their defaults."""
    import yaml

    services = yaml.safe_load(COMPOSE_FILE.read_text(encoding="utf-8"))["services"]
    return {name: _VARIABLE_WITH_DEFAULT.sub(r"\1", service["image"]) for name, service in services.items()}


def image_of(release: Release) -> str:
    """Return the image that docker-compose.yml names for the release's engine, at the release's version."""
    repository, _, _ = compose_images()[release.engine].rpartition(":")
    return f"{repository}:{release.version}"


def container_environment(spec: NodeSpec) -> dict[str, str]:
    """Return the server's settings as both images take them: environment variables with the settings' own names."""
    settings = spec.server_settings()
    environment = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    if spec.release.engine == "opensearch":
        security = {"DISABLE_SECURITY_PLUGIN": "true", "DISABLE_INSTALL_DEMO_CONFIG": "true"}
        return {**environment, **security, "OPENSEARCH_JAVA_OPTS": spec.java_options}
    if spec.password is not None:
        environment |= {"ELASTIC_PASSWORD": spec.password, "xpack.security.http.ssl.enabled": "false"}
    return {**environment, "ES_JAVA_OPTS": spec.java_options}
