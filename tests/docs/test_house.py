"""The structure of the product: small rooms, imports that point one way, plain docstrings."""

from __future__ import annotations

from tests.support import house

MOST_REPEATED = 15
"""Most file names that are used more than once; to be lowered, never raised."""
MOST_REPEATING = 1
"""Most docstrings of private functions that only repeat them; to be lowered, never raised."""
LONGEST = 25
"""Most lines of 95 % of all functions."""


def test_no_folder_is_crowded():
    assert house.crowded() == {}


def test_no_two_rooms_import_each_other():
    assert house.mutual() == []


def test_few_file_names_stand_more_than_once():
    assert len(house.repeated()) <= MOST_REPEATED, house.repeated()


def test_functions_are_short():
    assert house.p95(house.function_lines()) <= LONGEST


def test_no_docstring_begins_with_a_question_word():
    assert house.questioning_docstrings() == []


def test_no_docstring_has_words_that_do_not_help():
    assert house.unhelpful_docstrings() == []


def test_no_docstring_of_a_private_function_repeats_it():
    assert len(house.repeating_docstrings()) <= MOST_REPEATING, house.repeating_docstrings()


def test_no_description_of_an_argument_begins_with_a_question_word():
    assert house.questioning_items() == []


def test_no_message_has_words_that_do_not_help():
    assert house.unhelpful_messages() == []


def test_no_page_has_words_that_do_not_help():
    assert house.unhelpful_pages() == []
