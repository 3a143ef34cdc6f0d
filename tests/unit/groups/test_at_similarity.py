"""Groups by a higher similarity, without another run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from es_simhash import Index, InputError, Scheme, dedup
from es_simhash.groups.corpus import Corpus
from es_simhash.groups.groups import Groups
from tests.support.corpus import corpus, edited

STORIES = corpus(30)
EDITED = [edited(story, edits) for story in STORIES for edits in (0, 1, 4, 9, 16, 40)]
CHINESE = [
    f"第{day}天的港口公告：开往群岛的渡轮上午九点出发，傍晚返回。船票在船上出售。{note}"
    for day in (1, 2, 3)
    for note in ("", "因大风停航。", "节日期间加开两班，请提前到达码头并出示证件，儿童免票。")
]
TEXTS = [*(f"{each['title']}\n{each['body']}" for each in (*STORIES, *EDITED)), *CHINESE]
DOCUMENTS = [(f"{place:03}", text) for place, text in enumerate(TEXTS)]


def seen(groups: Groups[Corpus]) -> tuple[Any, ...]:
    """Return all that a result says of its documents."""
    pairs = {tuple(pair) for batch in groups.pairs() for pair in batch[["first", "second"]].tolist()}
    return list(groups), pairs, groups.canonicals.tolist(), groups.counts.duplicates


@pytest.mark.parametrize("way", [{}, {"estimate": True}, {"by": "both"}])
@pytest.mark.parametrize("similarity", [0.5, 0.63, "near", 0.85, 1.0])
def test_groups_by_a_higher_similarity_are_those_of_a_run_with_it(way: Any, similarity: Any) -> None:
    scheme = Scheme()
    with (
        dedup(DOCUMENTS, scheme=scheme, similarity=0.5, **way) as low,
        dedup(DOCUMENTS, scheme=scheme, similarity=similarity, **way) as run,
    ):
        groups, pairs, *others = seen(low.at(similarity))
        groups_of_run, pairs_of_run, *others_of_run = seen(run)
        assert (groups, others) == (groups_of_run, others_of_run)
        # Each similarity has keys of its own, which find nearly all pairs.
        assert len(pairs ^ pairs_of_run) <= 0.01 * len(pairs_of_run)
        assert groups


def test_the_groups_that_were_found_first_stay_as_they_are() -> None:
    with dedup(DOCUMENTS, similarity=0.5) as low:
        before = seen(low)
        higher = low.at(0.85)
        assert higher.counts.duplicates < low.counts.duplicates
        assert seen(higher.at(0.95)) == seen(low.at(0.95))
        assert seen(low) == before


def test_a_lower_similarity_needs_another_run() -> None:
    with dedup(DOCUMENTS, similarity=0.7) as found:
        with pytest.raises(InputError, match=r"pairs from 0\.7 on, and 0\.6 would have more. Group again"):
            found.at(0.6)
        with pytest.raises(InputError, match=r"pairs from 0\.85 on"):
            found.at(0.85).at(0.8)
    with dedup(DOCUMENTS, by="simhash") as found, pytest.raises(InputError, match="distance"):
        found.at(0.9)


def test_groups_of_an_index_have_a_higher_similarity_unless_only_new_documents_were_compared(tmp_path: Path) -> None:
    with Index("news", tmp_path, fields=["body"]) as index:
        index.init(create={})
        index.add(({"_id": id_, "body": text} for id_, text in DOCUMENTS), refresh=True)
        with index.group(similarity=0.5) as low, index.group(similarity=0.8) as run:
            assert seen(low.at(0.8)) == seen(run)
            index.write_groups(low.at(0.8))
            index.write_groups(low)
        with index.group(similarity=0.5, incremental=True) as new:
            assert new.counts.new == 0
            with pytest.raises(InputError, match="Only new documents were compared"):
                new.at(0.8)
