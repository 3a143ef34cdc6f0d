"""Recipes that nothing here can run ask for what the package asks for."""

from __future__ import annotations

import re
from importlib.metadata import requires

import yaml

from tests import ROOT


def test_the_conda_recipe_requires_what_the_package_requires() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda-recipe.yaml").read_text(encoding="utf-8"))
    ours = {re.sub(r"\s*;.*", "", each) for each in requires("es-simhash") or [] if "extra ==" not in each}
    theirs = {each.replace(" ", "") for each in recipe["requirements"]["run"]}
    assert theirs == {*ours, "python>=3.10"}


def test_the_image_has_what_the_wheel_is_built_of_and_no_root() -> None:
    folder = ROOT / "packaging"
    allowed = re.findall(r"^!(.+)$", (folder / "Dockerfile.dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    dockerfile = (folder / "Dockerfile").read_text(encoding="utf-8")
    copied = [name for line in re.findall(r"^COPY (?!--)(.+) \S+$", dockerfile, re.MULTILINE) for name in line.split()]
    assert sorted(copied) == sorted(allowed)
    assert all((ROOT / name).exists() for name in copied)
    assert re.findall(r"^USER (.+)$", dockerfile, re.MULTILINE) == ["nobody"]


def test_workflows_name_the_commit_of_each_action_that_is_not_ours() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    used = [line for path in workflows for line in re.findall(r"uses:.*", path.read_text(encoding="utf-8"))]
    assert used
    assert [line for line in used if not re.fullmatch(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []
