"""Hours with am and pm, in all spellings, and with the parts of the day."""

from collections.abc import Iterator
from itertools import product

import pytest

from journeygraph.journeys.notions.fields import Field, Range
from journeygraph.nodes.values import Setting, found_in, hint_of, shown
from tests.values.spellings import DE, REFUSED, US, assert_read, read

TIME, MOMENT = Field("x", "time"), Field("x", "datetime")
HALVES = ("AM", "am", "Am", "a.m.", "A.M.", "A.M", "a. m.", "A. M", "a m", "(am)", "(A.M.)", "-am")
GAPS = ("", " ", "  ", "\u00a0", "\u202f")
SENTENCES = {
    "{}": True,
    "at {}": True,
    "{} please": True,
    "Let's say {}, thanks": True,
    "a table for Lee, {} would be great": False,
    "can you do {}?": False,
    "my train leaves at {} so be quick": False,
}
"""Sentences with a time, and whether they are about nothing else."""
DAYS = ("tomorrow at {}", "{} tomorrow", "2026-11-22 {}", "11/22/2026, {}", "{} on Nov 22")


def halved() -> Iterator[tuple[str, str]]:
    """Yield all hours and minutes as written, without their half, and as they are in the morning.

    Minutes are after each sign, or directly after the hour.
    """
    for hour, minute in product(range(1, 13), (None, 0, 1, 15, 30, 45, 59)):
        value = f"{hour % 12:02}:{minute or 0:02}"
        for written in {f"{hour}", f"{hour:02}"}:
            if minute is None:
                yield written, value
                continue
            for sign in (":", ".", "h", ""):
                yield f"{written}{sign}{minute:02}", value


def later(value: str) -> str:
    """Return a time of the morning in the other half of the day."""
    return f"{int(value[:2]) + 12}{value[2:]}"


def both(written: str, value: str, half: str = "am", gap: str = " ") -> dict[str, str]:
    """Return a time with each half of the day, and what it means."""
    other = half.replace("a", "p", 1).replace("A", "P", 1)
    return {f"{written}{gap}{half}": value, f"{written}{gap}{other}": later(value)}


def test_a_time_with_its_half_of_the_day_is_read_so_in_all_spellings() -> None:
    """Every hour and minute in every spelling, each with another one of am and pm."""
    spelled = list(product(HALVES, GAPS))
    table: dict[str, str] = {}
    for at, (written, value) in enumerate(halved()):
        for half, gap in (spelled[at % len(spelled)], spelled[(at * 7 + 3) % len(spelled)]):
            table |= both(written, value, half, gap)
    for written in ("7", "07", "7:00", "07:00", "07.30", "0730", "07h30", "12", "12:30", "1"):
        value = dict(halved())[written]
        for half, gap in spelled:
            table |= both(written, value, half, gap)

    assert len(table) > 2_000
    assert_read(TIME, table)
    assert_read(
        Field("x", "time", validators=[Range("18:00", "22:00")]), dict(list(table.items())[::9])
    )


@pytest.mark.parametrize("sentence", SENTENCES)
def test_it_is_found_so_in_the_middle_of_a_sentence(sentence: str) -> None:
    wrong = []
    for written, value in list(halved())[::3]:
        for text, meant in both(written, value, HALVES[len(written) % 7]).items():
            said = sentence.format(text)
            found = [span.value for span in found_in(TIME, said, US)]
            if found != [meant] or (SENTENCES[sentence] and read(TIME, said) != meant):
                wrong.append(f"{said!r}: {found}, {read(TIME, said)}, not {meant}")

    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("day", DAYS)
def test_it_is_read_so_beside_a_date(day: str) -> None:
    wrong = []
    for written, value in list(halved())[::3]:
        for text, hour in both(written, value, HALVES[len(written) % 7]).items():
            said, meant = day.format(text), f"2026-11-22T{hour}"
            found = [span.value for span in found_in(MOMENT, said, US)]
            if found != [meant] or read(MOMENT, said) != meant:
                wrong.append(f"{said!r}: {found}, {read(MOMENT, said)}, not {meant}")
            hours = [span.value for span in found_in(TIME, said, US)]
            if hours != [hour]:
                wrong.append(f"{said!r}: the time is {hours}, not {hour}")

    assert not wrong, "\n".join(wrong)


def test_noon_and_midnight_are_read_in_all_their_names() -> None:
    table = {
        **dict.fromkeys(("12am", "12:00 AM", "12.00 a.m.", "1200am", "00:00", "24:00"), "00:00"),
        **dict.fromkeys(("midnight", "12 midnight", "12:00 midnight", "12am midnight"), "00:00"),
        **dict.fromkeys(("Mitternacht", "12 Uhr nachts", "12 at night"), "00:00"),
        **dict.fromkeys(("12pm", "12:00 PM", "12.00 p.m.", "1200pm", "12:00"), "12:00"),
        **dict.fromkeys(("noon", "12 noon", "12:00 noon", "12pm noon", "midday"), "12:00"),
        **dict.fromkeys(("mittags", "12 Uhr mittags", "12:00 Uhr mittags"), "12:00"),
        "12:30am": "00:30",
        "00:30 am": "00:30",
        "12:30 in the morning": "00:30",
        "12:30 at night": "00:30",
        "12:30pm": "12:30",
        "12:30 Uhr mittags": "12:30",
        "1 Uhr mittags": "13:00",
        "quarter to 12 pm": "11:45",
        "quarter to 12 am": "23:45",
        "quarter to 1 pm": "12:45",
        "half past 12 am": "00:30",
    }

    assert_read(TIME, table)


def test_words_are_read_with_their_half_of_the_day() -> None:
    table = {
        "seven pm": "19:00",
        "seven o'clock p.m.": "19:00",
        "8 o'clock PM": "20:00",
        "07:30 o'clock pm": "19:30",
        "seven thirty pm": "19:30",
        "seven twenty-five p.m.": "19:25",
        "seven oh five pm": "19:05",
        "eleven forty a.m.": "11:40",
        "7 thirty PM": "19:30",
        "7 45 pm": "19:45",
        "half past 07 pm": "19:30",
        "twenty to 08 PM": "19:40",
        "7:30p": "19:30",
        "7:30a": "07:30",
        "13pm": "13:00",
        "19:00 PM": "19:00",
        "13am": REFUSED,
        "19:30 am": REFUSED,
    }

    assert_read(TIME, table)


def test_a_leading_zero_gives_way_to_the_part_of_the_day_beside_it() -> None:
    table = {
        "07:00": "07:00",
        "07:00 Uhr": "07:00",
        "07:00 Uhr abends": "19:00",
        "07:00 Uhr morgens": "07:00",
        "7 Uhr morgens": "07:00",
        "7 Uhr am Morgen": "07:00",
        "07 Uhr abends": "19:00",
        "um 08:30 Uhr am Abend": "20:30",
        "um 8 am Abend": "20:00",
        "01:00 Uhr nachmittags": "13:00",
        "03:00 Uhr nachts": "03:00",
        "10 Uhr nachts": "22:00",
        "06:15 tonight": "18:15",
        "this evening at 07:00": "19:00",
        "09:15 at night": "21:15",
        "08:15 in the morning": "08:15",
        "good evening, 07:00": "07:00",
        "Guten Abend, um 07:00 Uhr": "07:00",
    }

    assert_read(TIME, table)
    assert_read(TIME, table, DE)
    away = "we arrive 07:00, and leave in the evening"
    assert [span.value for span in found_in(TIME, away, US)] == ["07:00"]
    assert read(MOMENT, "tomorrow evening at 07:00") == "2026-11-22T19:00"
    assert read(MOMENT, "morgen um 07:00 Uhr abends", DE) == "2026-11-22T19:00"


LONGER = {
    "a table for 4 on Monday at 08:00 in the evening": "20:00",
    "four people tomorrow evening at 7": "19:00",
    "a table at 7:30 tonight for Lee": "19:30",
    "4 people 25 March half past seven in the evening": "19:30",
    "4 people tomorrow afternoon, around 3:30": "15:30",
    "my shift ends at 12 in the morning, says Lee": "00:00",
    "we arrive 07:00, and leave in the evening": "07:00",
    "ein Tisch am Montag um 07:00 abends": "19:00",
    "7 Uhr abends, nicht morgens": "19:00",
    "4 Personen am 25.3. halb acht abends": "19:30",
    "4 Personen am Montagabend um 7": "19:00",
    "Freitagnachmittag um 3 für Lee": "15:00",
    "Mittwochmorgen um 9 für Lee": "09:00",
}


@pytest.mark.parametrize("kind", [TIME, MOMENT], ids=["time", "datetime"])
def test_the_words_of_a_time_in_a_longer_message_hold_the_part_of_the_day(kind: Field) -> None:
    """A value is taken from its words alone, without those around them."""
    for place, (said, hour) in product((US, DE), LONGER.items()):
        for span in found_in(kind, said, place):
            assert span.value.endswith(hour), said
            assert read(kind, span.raw, place) == span.value, said
        assert kind is MOMENT or len(found_in(kind, said, place)) == 1, said


def test_an_hour_that_is_past_makes_no_day_past() -> None:
    table = {
        "half past seven in the evening on 25 March": "2027-03-25T19:30",
        "Monday at half past seven pm": "2026-11-23T19:30",
        "10 past 8 pm on Tuesday": "2026-11-24T20:10",
        "twenty-five past eight on 2 April": "2027-04-02T08:25",
        "half-past seven on Monday": "2026-11-23T07:30",
    }

    assert_read(MOMENT, table)
    past = [span.value for span in found_in(Field("x", "date"), "this past Monday", US)]
    assert past == ["2026-11-16"]


def test_am_before_a_german_day_is_a_preposition() -> None:
    table = {
        "um 12 am Montag": "2026-11-23T12:00",
        "um 12 am 24.11.": "2026-11-24T12:00",
        "um 12 Uhr am Dienstag": "2026-11-24T12:00",
        "12 am, on Monday": "2026-11-23T00:00",
        "12 am Monday": "2026-11-23T00:00",
        "12:00 a.m. Monday": "2026-11-23T00:00",
    }

    assert_read(MOMENT, table)
    assert [span.value for span in found_in(TIME, "um 12 am Bahnhof", DE)] == ["12:00"]
    assert [span.value for span in found_in(TIME, "at 7. Am I too late?", US)] == ["07:00"]


@pytest.mark.parametrize("place", [US, DE], ids=["english", "german"])
def test_what_is_shown_is_read_back(place: Setting) -> None:
    """Every time of a day as it is shown, and the example of a hint."""
    minutes = [f"{at // 60:02}:{at % 60:02}" for at in range(0, 24 * 60, 7)]

    assert_read(TIME, {shown(TIME, minute, place): minute for minute in minutes}, place)
    evening = Field("x", "time", validators=[Range("19:30", "19:30")])
    assert read(evening, hint_of(evening, place).split("to ")[0].split("bis ")[0], place) == "19:30"
    pattern = Field("x", "time", extract=[r"slot (.+?)(?:,|$)"])
    assert read(pattern, "slot 07:30 PM, the other is 8 am", place) == "19:30"
