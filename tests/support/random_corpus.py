"""Random documents of the kinds that make verdicts hard: forms, edited copies, equal texts, short and empty ones."""

from __future__ import annotations

import random

WORDS = (
    *("river", "stone", "window", "paper", "garden", "letter", "morning"),
    *("silver", "market", "winter", "bridge", "candle", "forest", "engine"),
)
# Words with what stands between them.
LANGUAGES = (
    (WORDS, " "),
    (("河流", "石头", "窗户", "纸张", "花园", "信件", "早晨", "市场", "冬天", "桥梁", "森林", "机器"), ""),
    (("川の", "石が", "まど", "紙を", "庭園", "手紙は", "あさ", "市場へ", "ふゆ", "カメラ", "もり", "機械"), ""),
    (("강물은", "돌을", "창문", "종이", "정원에서", "편지", "아침", "시장", "겨울", "다리", "숲", "기계"), " "),
    (("река", "камень", "окно", "бумага", "сад", "письмо", "утро", "рынок", "зима", "мост", "лес"), " "),
    (("نهر", "حجر", "نافذة", "ورق", "حديقة", "رسالة", "صباح", "سوق", "شتاء", "جسر", "غابة"), " "),
    (("แม่น้ำ", "หิน", "หน้าต่าง", "กระดาษ", "สวน", "จดหมาย", "เช้า", "ตลาด", "สะพาน"), ""),
)


def forms(chosen: random.Random, count: int) -> list[str]:
    """Documents made from one form, filled in with other words and numbers, which are not duplicates."""
    form = "This certificate of day 7 confirms that the {} near the {} was examined as case {} by {} and {}. "
    return [form.format(*chosen.sample(WORDS, 2), 100 + case, *chosen.sample(WORDS, 2)) for case in range(count)]


def corpus(seed: int) -> list[str]:
    """Forms, texts of several languages with edited copies, equal texts, short and empty ones."""
    chosen = random.Random(seed)
    texts = forms(chosen, chosen.randrange(12))
    for _ in range(chosen.randrange(1, 6)):
        vocabulary, between = chosen.choice(LANGUAGES)
        are_numbered = chosen.random() < 0.5
        words = [chosen.choice(vocabulary) + (str(chosen.randrange(30)) if are_numbered else "") for _ in range(40)]
        for _ in range(chosen.randrange(1, 5)):
            edited = list(words)
            for place in chosen.sample(range(40), chosen.choice([0, 1, 3, 8, 15])):
                edited[place] = chosen.choice(vocabulary)
            texts.append(between.join(edited))
    texts += ["", "short", "short"][: chosen.randrange(4)]
    chosen.shuffle(texts)
    return texts


def texts_of_two_kinds() -> list[str]:
    """Sixty texts, ten with each of six frames, each with a copy that differs in a few words."""
    chosen = random.Random(4)
    words = ["".join(chosen.choices("abcdefghijklmnop", k=6)) for _ in range(3_000)]
    texts = []
    for number in range(60):
        own = [*words[number % 6 * 60 :][:60], *chosen.choices(words, k=50)]
        texts += [" ".join(own), " ".join([*own[:-4], *chosen.choices(words, k=4)])]
    return texts
