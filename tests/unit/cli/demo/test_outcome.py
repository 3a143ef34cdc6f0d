"""What the demo says of its trial: pairs by kind, why some were missed, groups, and what differs."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from es_simhash.cli.demo import outcome
from es_simhash.cli.demo.corpus import CorpusDocument, make_corpus
from es_simhash.cli.demo.grammar import Writer, language
from es_simhash.cli.demo.summary import marked
from es_simhash.scheme.scheme import Scheme

SCHEME = Scheme()
DOCUMENTS = make_corpus(150)
VERIFIER = outcome.verifier(SCHEME)


def document(id_: str, kind: str, family: str, body: str = "") -> CorpusDocument:
    return CorpusDocument(id_, "en", kind, family, "", body)


def test_pairs_are_planted_within_families() -> None:
    documents = [
        document("1", "original", "1"),
        document("2", "original", "2"),
        document("3", "edited", "1"),
        document("4", "copy", "1"),
        document("5", "template", "weather"),
        document("6", "template", "weather"),
        document("7", "boilerplate", "site"),
    ]
    pairs = {kind: own for kind, own in outcome.planted_pairs(documents).items() if own}
    assert pairs == {"edited": {(0, 2)}, "copy": {(0, 3)}, "siblings": {(2, 3)}, "template": {(4, 5)}}
    assert outcome.unplanted({(0, 1), (0, 2), (5, 6)}, pairs) == {(0, 1), (5, 6)}


def test_missed_pairs_are_reported_with_their_exact_similarity() -> None:
    text, other = (Writer(language("en"), random.Random(seed)).story(9) for seed in (1, 2))
    body, other_body = (language("en").body(story) for story in (text, other))
    documents = [
        document("1", "original", "1", body),
        document("2", "truncated", "1", body[: len(body) // 4]),
        document("3", "edited", "1", body.replace("the", "teh", 1)),
        document("4", "copy", "1", other_body),
    ]
    planted = outcome.planted_pairs(documents) | {"siblings": set()}
    [copy, edited, truncated] = outcome.missed(VERIFIER, documents, planted, found=set())
    assert (copy.kind, copy.why, edited.why, truncated.why) == ("copy", "below", "keys", "below")
    [similarity] = VERIFIER.to_others(documents[0].text, [documents[1].text])
    assert truncated.lowest == truncated.highest == similarity
    assert edited.lowest > VERIFIER.verification.similarity > truncated.lowest
    assert list(outcome.missed(VERIFIER, documents, planted, found={(0, 1), (0, 2), (0, 3)})) == []


def test_a_pair_without_a_common_band_is_missed_by_its_keys() -> None:
    body = DOCUMENTS[0].body
    documents = [document("1", "original", "1", body), document("2", "edited", "1", body[:-150])]
    [one] = outcome.missed(VERIFIER, documents, outcome.planted_pairs(documents), found=set())
    assert (one.why, one.count) == ("keys", 1)


def test_groups_are_what_pairs_link_the_largest_first() -> None:
    groups = outcome.groups(DOCUMENTS, {(1, 2), (5, 9), (9, 7)})
    assert [[each.id for each in group.documents] for group in groups] == [
        [DOCUMENTS[i].id for i in (5, 7, 9)],
        [DOCUMENTS[i].id for i in (1, 2)],
    ]
    assert [sum(group.kinds.values()) for group in groups] == [3, 2]
    assert outcome.groups(DOCUMENTS, set()) == []


def test_an_example_of_each_language_is_one_that_was_found() -> None:
    planted = outcome.planted_pairs(DOCUMENTS)
    everything = set().union(*planted.values())
    examples = list(outcome.examples(VERIFIER, DOCUMENTS, planted, everything))
    assert [each.first.language for each in examples] == ["en", "zh", "ja"]
    assert {each.second.kind for each in examples} == {"edited"}
    assert all(each.second.family == each.first.id for each in examples)
    without_edited = everything - planted["edited"]
    kinds = Counter(each.second.kind for each in outcome.examples(VERIFIER, DOCUMENTS, planted, without_edited))
    assert kinds == {"truncated": 3}
    assert list(outcome.examples(VERIFIER, DOCUMENTS, planted, set())) == []


def test_words_that_differ_are_marked_and_long_equal_parts_cut() -> None:
    before = "one two three four five six seven eight nine ten eleven twelve"
    after = "one two three four five six seven eight nine 10 eleven and twelve"
    assert marked(language("en"), before, after) == "… six seven eight nine [-ten-] {+10+} eleven {+and+} twelve"


def test_characters_that_differ_are_marked_where_no_spaces_are_written() -> None:
    assert marked(language("zh"), "昨夜海岸来了风暴。", "昨夜海岸起了大风暴。") == "昨夜海岸[-来-]{+起+}了{+大+}风暴。"


@example("a a", "a  a")
@given(st.text("ab ", max_size=30).map(str.strip), st.text("ab ", max_size=30).map(str.strip))
def test_nothing_is_marked_exactly_where_nothing_differs(before: str, after: str) -> None:
    shown = marked(language("en"), before, after)
    assert ("[-" in shown or "{+" in shown) == (before.split() != after.split())


def test_names_in_capitals_are_chosen_once_for_each_text() -> None:
    writer = Writer(language("en"), random.Random(1))
    first, second, *others = writer.expand("{TOWN}|{TOWN}|{town}|{town}|{town}").split("|")
    assert first == second
    assert len({first, *others}) > 1


def test_no_sentence_stands_twice_in_a_story() -> None:
    for seed in range(20):
        story = Writer(language("ja"), random.Random(seed)).story(9)
        sentences = [sentence for paragraph in story.paragraphs for sentence in paragraph]
        assert len(sentences) == len(set(sentences)) == 11
