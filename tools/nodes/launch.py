"""How an unpacked server is started in the foreground: its folders, command line, environment, settings file.

The Elasticsearch of the SonarQube bundle has no `bin/elasticsearch`; what that script would do is done here.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import NodeSpec, Setting

_SERVER_LAUNCHER = Path("lib", "tools", "server-launcher")
_CLI = "bin/elasticsearch-cli"
_AGENT = re.compile(r"-javaagent:agent/opensearch-agent\.jar")
_AGENT_CLASSES = "agent/opensearch-agent-bootstrap-*.jar"


@dataclass(frozen=True)
class Layout:
    """The folders of one node; all of them are its own and go with it."""

    root: Path
    data: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def config(self) -> Path:
        return self.home / "config"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def temporary(self) -> Path:
        return self.root / "tmp"

    @property
    def console(self) -> Path:
        return self.root / "console.log"

    @property
    def pid_file(self) -> Path:
        return self.root / "pid"


def server_command(spec: NodeSpec, layout: Layout, java_home: Path) -> list[str]:
    """Return the command that runs the server in the foreground, with the node's home as the working directory."""
    return [*_server_program(spec, layout, java_home), "-p", str(layout.pid_file)]


def _server_program(spec: NodeSpec, layout: Layout, java_home: Path) -> list[str]:
    if spec.release.engine == "opensearch":
        return ["bin/opensearch"]
    if (layout.home / _SERVER_LAUNCHER).is_dir():  # since Elasticsearch 9.4
        java = str(java_home / "bin" / "java")
        return [
            java,
            _temporary_of(layout),
            "-cp",
            f"{_SERVER_LAUNCHER}/*",
            "org.elasticsearch.server.launcher.ServerLauncher",
        ]
    return [_CLI]


def server_environment(spec: NodeSpec, layout: Layout, java_home: Path) -> dict[str, str]:
    """Return the server's whole environment; nothing is inherited, so that no stray Java option gets in."""
    if spec.release.engine == "opensearch":
        return {
            "PATH": os.environ["PATH"],
            "OPENSEARCH_JAVA_HOME": str(java_home),
            "OPENSEARCH_PATH_CONF": str(layout.config),
            "OPENSEARCH_TMPDIR": str(layout.temporary),
            "OPENSEARCH_JAVA_OPTS": spec.java_options,
        }
    return {
        **_elasticsearch_tool_environment("server", layout, java_home),
        "ES_JAVA_OPTS": spec.java_options,
        # The rest is what `elasticsearch-env` would export to the launcher.
        "ES_HOME": str(layout.home),
        "ES_DISTRIBUTION_TYPE": "zip",
        "JAVA": str(java_home / "bin" / "java"),
        "JAVA_TYPE": "ES_JAVA_HOME",
    }


def remove_agent(layout: Layout) -> None:
    """Remove the agent that looks at the whole stack whenever OpenSearch opens a file: half the time of an index.

    The server needs the agent's classes all the same. Without an agent, as before OpenSearch 3, nothing is changed.
    """
    options = layout.config / "jvm.options"
    for classes in layout.home.glob(_AGENT_CLASSES):
        replacement = f"-Xbootclasspath/a:{classes.relative_to(layout.home)}"
        options.write_text(_AGENT.sub(replacement, options.read_text(encoding="utf-8")), encoding="utf-8")


def keystore_command() -> list[str]:
    """Return the command that reads the first password of `elastic` from stdin into a new keystore."""
    return [_CLI, "add", "--force", "--stdin", "bootstrap.password"]


def keystore_environment(layout: Layout, java_home: Path) -> dict[str, str]:
    return _elasticsearch_tool_environment("keystore", layout, java_home)


def _elasticsearch_tool_environment(tool: str, layout: Layout, java_home: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "CLI_NAME": tool,
        "CLI_LIBS": f"lib/tools/{tool}-cli",
        "ES_JAVA_HOME": str(java_home),
        "ES_PATH_CONF": str(layout.config),
        "ES_TMPDIR": str(layout.temporary),
        "CLI_JAVA_OPTS": _temporary_of(layout),
    }


def _temporary_of(layout: Layout) -> str:
    """Return the option that keeps the temporary files of Elasticsearch's launcher and tools in the node's folder."""
    return f"-Djava.io.tmpdir={layout.temporary}"


def settings_file(spec: NodeSpec, layout: Layout, port: int) -> str:
    """Return the contents of elasticsearch.yml or opensearch.yml: loopback only, all in the node's own folders."""
    settings: dict[str, Setting] = {
        "network.host": "127.0.0.1",
        "http.port": port,
        "transport.port": 0,
        "path.data": str(layout.data),
        "path.logs": str(layout.logs),
        **spec.server_settings(),
    }
    # Every JSON scalar is a YAML scalar.
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
