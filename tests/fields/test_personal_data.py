"""Personal data in text: what is taken for it, what is not, and how it is masked on a stream."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph.journeys.declarations.guidelines import PII
from journeygraph.nodes.replies.pii import MASKS
from journeygraph.nodes.replies.stream import WINDOW, Filter, masked

PERSONAL = {
    "card": [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111.1111.1111.1111",
        "4111111111111111",
        "5555 5555 5555 4444",
        "2223 0031 2200 3222",
        "3782 822463 10005",
        "6011 1111 1111 1117",
        "3530 1113 3330 0000",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "４１１１ １１１１ １１１１ １１１１",
        "٤١١١ ١١١١ ١١١١ ١١١١",
        "4\u200b1\u200c1\u200d1\u2060 1111 \ufeff1111 1111",
        "4111\u00a01111\u202f1111\u20091111",
        "4111\u20111111\u20131111\u22121111",
        "\u202e4111 1111 1111 1111\u202c",
        "4111 1111\n1111 1111",
        "4111 1111 1111 **1111",
        "4111** **1111** **1111** **1111",
        "4111` `1111` `1111` `1111",
        "4\u03361\u03361\u03361\u0336 1111 1111 1111",
    ],
    "iban": [
        "DE89 3704 0044 0532 0130 00",
        "GB29NWBK60161331926819",
        "gb29 nwbk 6016 1331 9268 19",
        "MT84 MALT 0110 0001 2345 MTLC AST0 01S",
        "NO93-8601-1117-947",
        "ＤＥ89 3704 0044 0532 0130 00",
    ],
    "email": [
        "anna.b@example.com",
        "anna+news@mail.example.co.uk",
        "jürgen@müller.de",
        "o'neil@example.org",
        "anna\u200b.b@example.com",
        "anna＠example.com",
    ],
    "phone": [
        "+49 30 1234567",
        "+49 (0)30 / 123 45 67",
        "+1 (212) 555-0123",
        "0049 30 1234567",
        "(212) 555-0123",
        "212-555-0123",
        "020 7946 0958",
        "07700 900123",
        "07700900123",
        "06 12 34 56 78",
        "06.12.34.56.78",
        "0170/1234567",
        "(030) 1234567",
    ],
    "national_id": [
        "536-22-1234",
        "AB 12 34 56 C",
        "AB123456C",
        "36 574 261 809",
        "2 95 10 99 126 111 93",
        "54362315K",
        "X-2482300-W",
        "RCCMNL83S18D969H",
        "44051401359",
        "880320-0016",
        "2341 2341 2346",
        "390.533.447-05",
        "85.07.30-033 28".replace(" ", "."),
        "756.9217.0769.85",
        "131052-308T",
    ],
}
ANNOUNCED = {
    "my social security number is 536221234": "national_id",
    "SSN: 536221234": "national_id",
    "BSN 111222333": "national_id",
    "NHS number 9434765919": "national_id",
    "Steuer-ID 36574261809": "national_id",
    "Aadhaar 234123412346": "national_id",
    "please call 912 345 678": "phone",
    "Tel.: 601 234 567": "phone",
}
HARMLESS = [
    "It happened on 01.02.2024 at 10:30.",
    "05/11/2026, 2026-11-21, 21-11-2026 and 01 02 2024",
    "2024-11-21 10:18:17",
    "01.01.2024 - 31.12.2024",
    "Your policy is VN-2024-001234, the old one 12345678.",
    "claim 1234567890, reference 2024001234567",
    "ticket 0012345678",
    "EUR 1.234.567,89 or 1 234 567.89, or 0.123456789",
    "10.000.000 people",
    "version 1.2.3.4 at 192.168.10.12",
    "Order 4111 1111 1111 1112",
    "card 1234 5678 9012 3456",
    "DE89 3704 0044 0532 0130 01",
    "P-1042, P-1043",
    "Room 101, floor 12, 24 hours, 7 days",
    "call us between 9 and 17 on 01.02.2024",
    "We are open 0800-1700, Mon 0900-1200 1300-1730, Sat 08.00 - 12.30.",
    "from 03/04/2026-10/04/2026",
    "the mobile bill is 1234567.89 dollars",
    "ISBN 978-3-16-148410-0",
    "123456789 and 111222333",
    "meet me @ noon, a@b, @anna, x@localhost",
    "+100000 points, +5%",
    "1 of 2, 3 of 4, 5 of 6",
]
TRUE = [(kind, text) for kind, texts in PERSONAL.items() for text in texts]


def numbered(cases: list[str]) -> list[str]:
    """Ids of cases that are no names."""
    return [str(number) for number, _ in enumerate(cases)]


@pytest.mark.parametrize(
    ("kind", "text"), TRUE, ids=[f"{kind}-{number}" for number, (kind, _) in enumerate(TRUE)]
)
def test_personal_data_is_found_and_nothing_around_it(kind: str, text: str) -> None:
    said, found = masked(f"You gave us {text}, I think.", PII)
    assert found == [kind]
    assert (
        said.replace("\u202e", "").replace("\u202c", "") == f"You gave us {MASKS[kind]}, I think."
    )
    assert masked(f"{text}联系", PII)[1] == [kind]


@pytest.mark.parametrize("text", ANNOUNCED, ids=numbered([*ANNOUNCED]))
def test_a_bare_number_is_personal_where_a_word_before_it_says_so(text: str) -> None:
    assert masked(text, PII)[1] == [ANNOUNCED[text]]
    bare = "".join(char for char in text if char.isdigit() or char == " ").strip()
    assert masked(f"Policy {bare}", PII)[1] == []


@pytest.mark.parametrize("text", HARMLESS, ids=numbered(HARMLESS))
def test_other_numbers_are_left(text: str) -> None:
    assert masked(text, PII) == (text, [])


@pytest.mark.parametrize("kind", PII)
def test_only_the_kinds_that_are_named_are_masked(kind: str) -> None:
    text = "; ".join(texts[0] for texts in PERSONAL.values())
    said, found = masked(text, [kind])
    assert found == [kind]
    assert said == text.replace(PERSONAL[kind][0], MASKS[kind])


@pytest.mark.parametrize(
    ("allowed", "left"),
    [
        ("0800 123 4567", True),
        ("0800-1234567", True),
        ("0800 123 4568", False),
        ("0800", False),
        ("", False),
    ],
    ids=["same", "written otherwise", "another", "a part", "nothing"],
)
def test_what_may_be_said_is_compared_by_its_signs(allowed: str, left: bool) -> None:
    said, _ = masked("Call 0800 123 4567.", PII, [allowed])
    assert (said == "Call 0800 123 4567.") is left


def pieces(text: str, sizes: list[int]) -> Iterator[str]:
    """A text in pieces of these sizes, over and over."""
    at, turn = 0, 0
    while at < len(text):
        yield text[at : at + sizes[turn % len(sizes)]]
        at, turn = at + sizes[turn % len(sizes)], turn + 1


_WORDS = st.one_of(
    st.sampled_from([text for _, text in TRUE]),
    st.sampled_from([*ANNOUNCED, *HARMLESS]),
    st.sampled_from(["hello ", "it is ", "请拨打", "\n\n", "DE", "+", "(", "4111 1111 ", "\u200b"]),
    st.text(max_size=12),
    st.text("0123456789 -.+()@aB\u200b", max_size=40),
)


@given(
    st.lists(_WORDS, max_size=12).map(" ".join),
    st.lists(st.integers(1, 30), min_size=1, max_size=6),
)
def test_a_stream_is_masked_as_the_whole_is_whatever_its_pieces(
    text: str, sizes: list[int]
) -> None:
    streamed = Filter(PII)
    heard = "".join(map(streamed.feed, pieces(text, sizes))) + streamed.flush()
    assert (heard, streamed.found) == masked(text, PII)


@pytest.mark.parametrize("sizes", [[1], [3], [5], [7, 1]], ids=str)
@pytest.mark.parametrize("kind", PII)
def test_what_comes_in_pieces_never_gets_out(kind: str, sizes: list[int]) -> None:
    for text in PERSONAL[kind]:
        streamed, heard = Filter(PII), ""
        for piece in pieces(f"You gave us {text} before. Thanks.", sizes):
            heard += streamed.feed(piece)
            assert not any(char.isdigit() or char in "@＠" for char in heard)
        assert heard + streamed.flush() == masked(f"You gave us {text} before. Thanks.", PII)[0]


def test_words_go_out_as_soon_as_they_end() -> None:
    streamed = Filter(PII)
    assert streamed.feed("Thank you for your mess") == "Thank you for your "
    assert streamed.feed("age. ") == "message. "
    assert streamed.feed("We are open at 1") == "We are open "
    assert streamed.feed("0 today. See") == "at 10 today. "
    assert streamed.flush() == "See"


@pytest.mark.parametrize(
    "unit", ["1 ", "a", "4111 ", "12.05.2026 10:00 ", "(", "a@", "1a "], ids=str
)
def test_no_more_than_a_window_is_kept_back(unit: str) -> None:
    streamed, heard, given = Filter(PII), 0, 0
    for _ in range(2_000):
        heard, given = heard + len(streamed.feed(unit)), given + len(unit)
        assert given - heard <= WINDOW + len(unit)


@pytest.mark.parametrize("kind", ["card", "iban"])
def test_what_stands_across_the_end_of_a_window_is_masked_whole(kind: str) -> None:
    known = PERSONAL[kind][0]
    for before in range(110, 135):
        said, found = masked(f"{'7 ' * before}{known} {'7 ' * 300}", [kind])
        assert found == [kind]
        assert said == f"{'7 ' * before}{MASKS[kind]} {'7 ' * 300}"


@pytest.mark.parametrize(
    "unit",
    [
        "4",
        "4 ",
        "4111 1111 1111 1112 ",
        "099 9999999 ",
        "+99 99999999 ",
        "DE12 ",
        "DE89 3704 0044 0532 0130 01 ",
        "4\u200b",
        "a@",
        "aaa@aaa.aaa.",
        "(",
        "ssn 123456789 ",
        "tel 1 2 3 4 5 6 7 8 9 ",
    ],
    ids=str,
)
def test_a_long_reply_ends(unit: str) -> None:
    """It is the time limit of the test that holds; what is masked does not matter."""
    text = unit * (65_536 // len(unit))
    assert masked(text, PII)[0]
