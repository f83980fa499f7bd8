"""The one form that stands for all forms of a word: went is go, cancellations are cancel."""

from __future__ import annotations

from functools import lru_cache

from nodes.words import stem

# The first stands for the others. Words that are more often another one are left out: a wound is
# nothing that was wound, ground nothing that was ground.
_IRREGULAR = """
    beat beaten | become became | begin began begun | bend bent | bite bit bitten | bleed bled |
    blow blew blown | break broke broken | bring brought | build built | burn burnt | buy bought |
    catch caught | choose chose chosen | come came | deal dealt | die dying | dig dug |
    draw drew drawn | dream dreamt | drink drank drunk | drive drove driven | eat ate eaten |
    fall fell fallen | feed fed | feel felt | fight fought | find found | flee fled |
    fly flew flown | forbid forbade forbidden | forget forgot forgotten | forgive forgave forgiven |
    freeze froze frozen | get got gotten | give gave given | go went gone goes | grow grew grown |
    hang hung | hear heard | hide hid hidden | hold held | keep kept | know knew known |
    lay laid | lead led | learn learnt | leave left | lend lent | lie lying | light lit |
    lose lost losing | make made making | mean meant | meet met | mistake mistook mistaken |
    overpay overpaid | pay paid | prove proven | repay repaid | ride rode ridden | ring rang rung |
    rise risen | run ran | say said | see saw seen | seek sought | sell sold | send sent |
    sew sewn | shake shook shaken | shoot shot | show shown | shrink shrank shrunk |
    sing sang sung | sink sank sunk | sit sat | sleep slept | slide slid | smell smelt |
    speak spoke spoken | speed sped | spell spelt | spend spent | spill spilt | spoil spoilt |
    stand stood | steal stole stolen | stick stuck | sting stung | strike struck stricken |
    swear swore sworn | sweep swept | swell swollen | swim swam swum | take took taken |
    teach taught | tear tore torn | tell told | think thought | throw threw thrown | tie tying |
    understand understood | wake woke woken | wear wore worn | win won | sue suing | owe owing |
    withdraw withdrew withdrawn | write wrote written |
    child children | foot feet | half halves | knife knives | leaf leaves | life lives | man men |
    mouse mice | person people persons | shelf shelves | thief thieves | tooth teeth | wife wives |
    woman women |
    bad worse worst | good better best
"""
_BASES = {form: group.split()[0] for group in _IRREGULAR.split("|") for form in group.split()[1:]}
_OTHERS: dict[str, list[str]] = {}
for _form, _base in _BASES.items():
    _OTHERS.setdefault(_base, []).append(_form)
# What makes another word of one that is near in meaning, longest first: insurance of insure.
_SUFFIXES = """
    ification ibility ability ization isation ement ation ition ative ician ising izing
    ance ence ancy ency able ible ical ness ious less sion
    ery ant ent ful ity ous ive ise ize ify ial ion ish al an er or en ic ly th ur ed fy i y t e
"""
_ENDINGS = tuple(_SUFFIXES.split())
_LEAST_ROOT = 4


def spellings(word: str) -> tuple[str, ...]:
    """Return a plain word and its irregular forms, as somebody may have misspelled them."""
    return (word, *_OTHERS.get(word, ()))


@lru_cache(maxsize=20_000)
def form_of(word: str) -> str:
    """Return the form of a plain word that it has in common with its other forms.

    Example:
        >>> form_of("stolen"), form_of("cancellations")
        ('steal', 'cancel')
    """
    return stem(_BASES.get(word, word))


@lru_cache(maxsize=20_000)
def root_of(form: str) -> str:
    """Return what is left of a form without the suffix that derived it: insur of insuranc."""
    for suffix in _ENDINGS:
        for ending in (suffix, suffix.removesuffix("e")):
            if ending and form.endswith(ending) and len(form) - len(ending) >= _LEAST_ROOT:
                return form.removesuffix(ending)
    return form
