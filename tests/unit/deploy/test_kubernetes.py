"""The manifests for Kubernetes fit its schemas, and run commands that there are, as their page says."""

from __future__ import annotations

import copy
import pwd
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes_validate import ValidationError, validate

from es_simhash import __version__
from es_simhash.cli.show import output
from tests import ROOT
from tests.support.cli_lines import check_line

FOLDER = ROOT / "deploy" / "kubernetes"
MANIFESTS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*"))}
SETTINGS = MANIFESTS["settings"]
JOBS = {"backfill": MANIFESTS["backfill"]["spec"], "sync": MANIFESTS["sync"]["spec"]["jobTemplate"]["spec"]}
PODS = {name: job["template"] for name, job in JOBS.items()}
CONTAINERS = {name: pod["spec"]["containers"][0] for name, pod in PODS.items()}
PAGE = (ROOT / "docs" / "how-to" / "kubernetes.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8")
# The first version that the page names, and the newest that there is a schema of.
VERSIONS = ("1.31", "1.37")
each_job = pytest.mark.parametrize("name", JOBS)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_fits_the_schema_of_kubernetes(name: str, version: str) -> None:
    assert validate(MANIFESTS[name], version, strict=True) == version


@each_job
def test_the_schema_refuses_a_misspelt_key_anywhere(name: str) -> None:
    wrong = copy.deepcopy(MANIFESTS[name])
    job = wrong["spec"] if name == "backfill" else wrong["spec"]["jobTemplate"]["spec"]
    job["template"]["spec"]["containers"][0]["securityContext"]["readOnlyRootFileSystem"] = True
    with pytest.raises(ValidationError, match="readOnlyRootFileSystem"):
        validate(wrong, VERSIONS[0], strict=True)


@each_job
def test_a_pod_runs_a_command_of_ours(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container = CONTAINERS[name]
    line = shlex.join(["es-simhash", *container["args"]]).replace("'", "")
    for variable, value in SETTINGS["data"].items():
        line = line.replace(f"$({variable})", value)
    assert "$(" not in line
    assert container["args"][0] == name
    [login] = [each["mountPath"] for each in container["volumeMounts"] if each["name"] == "login"]
    files = re.findall(rf"{login}/(\S+)", line)
    check_line(line.replace(f"{login}/", ""), tmp_path, monkeypatch, *files)
    # The page makes a secret of the same files.
    assert re.findall(r"--from-file (\S+)", PAGE) == files
    assert 'ENTRYPOINT ["es-simhash"]' in DOCKERFILE


def test_the_pods_differ_only_in_what_they_run() -> None:
    pods = copy.deepcopy(PODS)
    args = [pod["spec"]["containers"][0].pop("args") for pod in pods.values()]
    assert pods["backfill"] == pods["sync"]
    assert args[0][-4:] == args[1][-4:]
    own = ("suspend", "activeDeadlineSeconds", "template")
    jobs = [{key: value for key, value in job.items() if key not in own} for job in JOBS.values()]
    assert jobs[0] == jobs[1]


def test_the_names_that_manifests_and_page_share_are_the_same() -> None:
    assert [each["metadata"]["name"] for each in MANIFESTS.values()] == [
        "es-simhash-backfill",
        "es-simhash-settings",
        "es-simhash-sync",
    ]
    kinds = {"Job": "job.batch", "CronJob": "cronjob.batch", "ConfigMap": "configmap"}
    for each in MANIFESTS.values():
        assert f"{kinds[each['kind']]}/{each['metadata']['name']} created\n" in PAGE
    for pod in PODS.values():
        assert pod["spec"]["containers"][0]["envFrom"] == [{"configMapRef": {"name": SETTINGS["metadata"]["name"]}}]
        [secret] = [each["secret"]["secretName"] for each in pod["spec"]["volumes"] if "secret" in each]
        assert f"create secret generic {secret} " in PAGE
    for kind, name in (("job", "backfill"), ("cronjob", "sync")):
        assert f"kubectl patch {kind} es-simhash-{name} " in PAGE


def test_the_image_is_that_of_the_page_and_of_this_version() -> None:
    [image] = {container["image"] for container in CONTAINERS.values()}
    assert image.endswith(f"/es-simhash:{__version__}")
    assert f"--tag {image} " in PAGE
    assert f"docker push {image}\n" in PAGE


def test_nothing_runs_until_somebody_says_so_nor_twice_at_once() -> None:
    assert MANIFESTS["backfill"]["spec"]["suspend"] is True
    assert MANIFESTS["sync"]["spec"]["suspend"] is True
    assert MANIFESTS["sync"]["spec"]["concurrencyPolicy"] == "Forbid"
    assert all(job["podReplacementPolicy"] == "Failed" for job in JOBS.values())


def action(job: dict[str, Any], code: int, *conditions: str) -> str:
    """What Kubernetes does about a pod that ended so: the first rule that matches decides."""
    for rule in job["podFailurePolicy"]["rules"]:
        codes = rule.get("onExitCodes", {"operator": "In", "values": []})
        assert codes["operator"] == "In"
        if code in codes["values"] or {each["type"] for each in rule.get("onPodConditions", [])} & {*conditions}:
            return str(rule["action"])
    return "Count"


@each_job
def test_what_may_pass_gets_another_pod_and_what_cannot_ends_the_job(name: str) -> None:
    job = JOBS[name]
    assert job["template"]["spec"]["restartPolicy"] == "Never"  # the policy needs it
    assert job["backoffLimit"] == 6
    assert "six times at most" in PAGE
    ends = {code: action(job, code) for code in output.MEANINGS if code != output.FINE}
    assert ends == {
        output.SOME_FAILED: "FailJob",
        output.USAGE: "FailJob",
        output.LATER: "Count",
        output.REFUSED: "FailJob",
        output.INTERRUPTED: "Count",
    }
    out_of_memory = 137
    assert action(job, out_of_memory) == "Count"
    assert action(job, output.INTERRUPTED, "DisruptionTarget") == "Ignore"


@each_job
def test_a_pod_meets_the_standard_restricted(name: str) -> None:
    pod, container = PODS[name]["spec"], CONTAINERS[name]
    own = container["securityContext"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == pwd.getpwnam("nobody").pw_uid
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {key for volume in pod["volumes"] for key in volume} == {"name", "secret", "emptyDir"}
    assert pod["automountServiceAccountToken"] is False


@each_job
def test_a_pod_writes_below_tmp_only(name: str) -> None:
    pod, container = PODS[name]["spec"], CONTAINERS[name]
    empty = {volume["name"] for volume in pod["volumes"] if "emptyDir" in volume}
    writable = [each["mountPath"] for each in container["volumeMounts"] if each["name"] in empty]
    assert writable == ["/tmp"]
    assert re.findall(r"^WORKDIR (.+)$", DOCKERFILE, re.MULTILINE) == ["/tmp"]
    assert {"name": "XDG_STATE_HOME", "value": "/tmp"} in container["env"]


@each_job
def test_prometheus_reaches_the_metrics(name: str) -> None:
    port = CONTAINERS[name]["ports"][0]["containerPort"]
    annotations = PODS[name]["metadata"]["annotations"]
    assert annotations == {"prometheus.io/scrape": "true", "prometheus.io/port": str(port)}
    assert f"--metrics-port=0.0.0.0:{port}" in CONTAINERS[name]["args"]
    assert f"from port {port}" in PAGE
