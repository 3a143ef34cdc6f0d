"""A backfill that is killed, or whose documents others change in the meantime, ends with every document right."""

from __future__ import annotations

import random
import time

import pytest

from tests.system.soak.conftest import Begin, Fill, Scale
from tests.system.soak.others import SteadyWriter, Writer
from tools.nodes import Node

# What may be written, in documents, for each that there is.
MOST = 1.1
# The most documents of an index to which others write until a backfill of it ends.
ENDING = 3_000


def test_a_run_that_is_killed_again_and_again_goes_on_each_time(
    node: Node, fill: Fill, begin: Begin, scale: Scale
) -> None:
    index, chance = fill(node), random.Random(1)
    for kills in range(scale.kills, 0, -1):
        # A busy machine may have killed the last run when it had written all.
        if (left := index.count - index.written) <= 0:
            break
        command = begin(index)
        command.await_written(index.written + chance.uniform(0, 1.5 * left / (kills + 1)))
        command.kill()
    done = begin(index).ended()
    assert done["rejected"] == 0
    assert index.wrong() == []
    assert index.count <= index.written <= MOST * index.count


@pytest.mark.nightly
def test_others_change_texts_in_the_meantime(node: Node, fill: Fill, begin: Begin, scale: Scale) -> None:
    index = fill(node)
    numbers = index.some(0.05)
    writer = Writer(index, numbers)
    command = begin(index, "--max-rate", str(index.count // scale.seconds))
    writer.start()
    done = command.ended()
    writer.ended()
    assert done["rejected"] == 0
    assert index.wrong() == []
    assert index.count <= index.written - len(numbers) <= MOST * index.count


@pytest.mark.nightly
def test_others_change_texts_until_shortly_before_the_end(node: Node, fill: Fill, begin: Begin, scale: Scale) -> None:
    """Whatever comes between two requests of a run is seen by it, or by the next if it says that others go on."""
    chance = random.Random(3)
    count = min(ENDING, scale.documents)
    for _ in range(scale.ends):
        index = fill(node, count, shards=1)
        writer = SteadyWriter(index)
        command = begin(index, "--max-rate", str(count / chance.uniform(2, 6)))
        writer.start()
        while index.written < index.count + writer.changes:
            assert command.is_running(), command.said
        time.sleep(chance.uniform(0, 0.5))
        writer.stop()
        if (done := command.ended(None))["unsettled"]:
            done = begin(index).ended()
        assert done["rejected"] == 0
        assert index.wrong() == []


@pytest.mark.long
def test_others_change_texts_of_a_run_that_is_killed(node: Node, fill: Fill, begin: Begin, scale: Scale) -> None:
    """Nobody has seen what was changed between two runs, but the last one knows since when to look."""
    index, chance = fill(node), random.Random(2)
    numbers = index.some(0.05)
    writer = Writer(index, numbers)
    writer.start()
    while writer.is_alive():
        command = begin(index)
        command.await_written(index.written + chance.uniform(0, 1.5 * index.count / (scale.kills + 1)))
        command.kill()
    writer.ended()
    begin(index).ended()
    assert index.wrong() == []
    assert index.written - len(numbers) <= MOST * index.count
