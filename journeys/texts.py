"""The catalogue of the runtime's own texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

BRACED = re.compile(r"\{([^{}\n]*)\}")
"""A placeholder of a text; what is in the braces is its name, and nothing is evaluated."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of the runtime; each can be replaced.

    The defaults are in English; `journeys/languages` has the other languages. A placeholder of a
    text can be left out, and no text has others than those that are named here.

    Attributes:
        closing: Answer to a message after the journey has ended.
        apology: Answer of a turn that failed under graceful recovery.
        too_deep: Answer when a detour would exceed the depth limit.
        moved_back: Notice after a new version of the journey that lacks the pathway; `{task}` is
            the task that continues.
        moved_to_entry: The same, if the journey begins again from the start.
        empty: Answer to an empty message.
        too_long: Answer to a message over the size limit.
        refused: Answer of a failed turn in a journey that refuses to continue then.
        unsafe: Replacement for a reply that breaks the rules, if the journey has no
            `__safe_reply__`.
        wrong_before: Text before a reply, if the previous reply was sent and then found to break
            the rules.
        unsure: Answer of a concierge to a message that starts none of its journeys.
        which: Question of a concierge which of its journeys is meant; `{journeys}` lists them.
        cancelled: Answer when the user gives up a journey.
        ask: Question for a field without its own question; `{field}` is the name of the field.
        ask_choice: A `{question}`, followed by the `{choices}` for its answer.
        not_text, not_integer, not_number, not_boolean, not_date, not_time, not_datetime: Reason
            why a value of that type is refused.
        not_money, not_email, not_phone, not_name, not_full_name, not_address, not_list: The same.
        not_enum: The same; it names the `{choices}`.
        out_of_range: Not from `{least}` to `{most}`. too_low, too_high: only one limit is set.
        too_short, too_few, too_many_characters, too_many_items: `{least}` or `{most}` of them.
        not_matching: A pattern does not match. refused_value: a function refused it.
        hint: Asks for `{field}` in other words after two misses; `{hint}` describes valid values.
            may_skip: adds to it that the field is optional.
        exhausted: After the last try; `{field}`.
        collected: Reply when all is collected and there is no other reply.
        summary: Asks whether all is right; `{fields}` has a line for each value.
        summary_wrong: Asks which value is wrong.
        corrected: A value was changed: `{field}`, `{value}`.
        understood: Repeats the `{value}` of a `{field}` if some words were not understood.
        unread: Names the words that were not understood, `{words}`.
        ask_leave: Asks whether to give up `{task}`.
        confirm_correction: Asks whether to change `{field}` to `{value}`.
        kept: A change was cancelled; `{field}` remains `{value}`.
        emptied: `{field}` has no value any more.
        no_longer_valid: `{field}` was checked again and refused; `{reason}`. outdated: the same,
            for a check before its use or after a pause.
        skipped: An optional question is left open.
        required: `{field}` is needed; `{description}`.
        explain: Reason for a question: `{description}`. explain_plain: none is known.
        wait: Answer to "one moment".
        noise: Answer to a message without meaning. not_read: to one that seems to answer the
            question for `{field}`, and has no value for it. not_exact: the same, with a number in
            it. cannot_answer: to a question without an answer here. off_topic: to one off the
            topic. off_topic_again: to the third of these in a row. unsupported: to a wish that
            nothing here fulfils; `{tasks}` are possible.
        gladly: Answer to a first message that says what the journey is for.
        nearly: Two questions of a long form are left.
        answered: Answer from knowledge: `{answer}`, and its `{sources}`. not_known: the knowledge
            has no answer. lookup_failed: the lookup failed.
        clarify, clarify_again: Asks which of `{options}` is meant.
        offer_human: Asks whether to call a person. human_called: a person is called.
            no_human: no person can be called. human_declined: the user continues without one.
        unclaimed: The conversation is not claimed yet; asks whether to continue here.
        released: The assistant has the conversation again.
        reminder: Reply to a silence of the user. closed: the session is closed after it.
        returning: Returns to `{task}`. ask_return: asks whether to do so. which_paused: asks which
            of `{options}` to continue. left: `{task}` is given up.
        more: Asks whether there is anything else.
        cancelled_all: All tasks are given up.
        blocked: Answer to a wish that is handled right after the present task.
        restart: `{task}` is begun already; asks whether to continue it or to start over.
        go_on, begin_anew: The two answers to that, as options.
        restarted: A task begins again. ask_restart: asks whether to do so, if something was done
            for `{task}` already. ask_restart_unsure: the same, if it is unknown whether it was.
        back: An earlier question is asked again; `{field}` is `{value}`. back_first: no question is
            earlier.
        status: Values known so far, `{fields}`. status_empty: there are none. status_waiting: the
            other open `{tasks}`.
        after_effect: `{task}` is done; `{field}` was `{value}` then; `{options}`.
        stays_done: The same without `{options}`, if it can only be left as it is.
        change_it, ask_person, leave_it: The answers to that, as options.
        effect_failed: The effect failed; `{reason}`. retry: asks whether to try again.
            effect_unsure: the outcome is unknown. effect_late: the outcome is unknown, and a
            repetition takes effect only once. effect_again: the outcome is unknown, and the values
            are others now, so that it may be done twice.
        resumed: Greets after a pause; `{fields}` are known. expired: `{field}` is asked again.
        summary_line: One line of a summary: `{field}`, `{value}`.
        yes, no: The words for a boolean.
        hidden: Replacement for a sensitive value.
    """

    closing: str = "We are all done here. If you need anything else, just say so."
    apology: str = "Sorry, something went wrong on our side. Nothing was lost; please try again."
    moved_back: str = (
        "What we were doing has changed since your last message, so we go on with {task}."
    )
    moved_to_entry: str = (
        "What we were doing has changed since your last message, so we begin again from the start."
    )
    too_deep: str = "Let us finish what we have open first; then we can get to that."
    empty: str = "I did not catch anything. What would you like to say?"
    too_long: str = "That is more than I can read at once. Could you put it more briefly?"
    refused: str = "I cannot go on with this right now. Please try again later."
    unsafe: str = "I am not able to answer that here. Is there anything else that I can do?"
    wrong_before: str = "My last answer was not right. Please do not rely on it."
    unsure: str = "I am not sure that I can help with that. What would you like to do?"
    which: str = "What can I help you with? {journeys}"
    cancelled: str = "All right, we leave that. Is there anything else?"
    ask: str = "What is the {field}?"
    ask_choice: str = "{question} ({choices})"
    not_text: str = "I did not catch that."
    not_integer: str = "That is not a whole number."
    not_number: str = "That is not a number."
    not_boolean: str = "Please answer with yes or no."
    not_date: str = "I cannot read that as a date."
    not_time: str = "I cannot read that as a time."
    not_datetime: str = "I cannot read that as a date and a time."
    not_money: str = "I cannot read that as an amount of money."
    not_email: str = "That is not a valid e-mail address."
    not_phone: str = "That is not a valid telephone number."
    not_name: str = "That does not look like a name."
    not_full_name: str = "That does not look like a first and a last name."
    not_address: str = "That does not look like an address."
    not_enum: str = "Please choose one of: {choices}."
    not_list: str = "I did not catch what should be on the list."
    out_of_range: str = "It must be from {least} to {most}."
    too_low: str = "It must be at least {least}."
    too_high: str = "It must be at most {most}."
    too_short: str = "It must have at least {least} characters."
    too_few: str = "I need at least {least} of them."
    too_many_characters: str = "It must have at most {most} characters."
    too_many_items: str = "I can take at most {most} of them."
    not_matching: str = "That is not in the form I need."
    refused_value: str = "I cannot take that."
    hint: str = "What I need is the {field}: {hint}."
    may_skip: str = "It may also stay open: say “skip”."
    exhausted: str = "We are not getting any further with the {field}."
    collected: str = "Thank you, that is all I need."
    summary: str = "Let me read that back:\n{fields}\nIs that right?"
    summary_wrong: str = "What should be different?"
    corrected: str = "All right, I have changed the {field} to {value}."
    understood: str = "For the {field} I have noted: {value}."
    unread: str = "I did not understand “{words}”."
    ask_leave: str = "Shall I give up {task}?"
    confirm_correction: str = "Shall I change the {field} to {value}?"
    kept: str = "All right, no change to the {field}: {value}."
    emptied: str = "All right, I have removed the {field}."
    no_longer_valid: str = "With that, I can no longer take the {field}. {reason}"
    outdated: str = "I can no longer take the {field}. {reason}"
    skipped: str = "That is fine, we can leave that open."
    required: str = "I cannot go on without the {field}. {description}"
    explain: str = "{description}"
    explain_plain: str = "I need the {field} to go on with this."
    wait: str = "Take your time."
    noise: str = "I did not understand that."
    not_read: str = "I did not get that as the {field}."
    not_exact: str = "For the {field} I need one exact answer."
    gladly: str = "Gladly."
    nearly: str = "Two more questions, then that is all."
    cannot_answer: str = "I cannot answer that here."
    answered: str = "{answer}\nSource: {sources}"
    not_known: str = "I do not know that."
    lookup_failed: str = "I could not look that up just now."
    off_topic: str = "Let us get back to where we were."
    off_topic_again: str = "I can only help with what we are here for: {tasks}."
    unsupported: str = "That is nothing I can do here. What I can help with: {tasks}."
    clarify: str = "Which one do you mean?\n{options}"
    clarify_again: str = "I am still not sure. Please choose one:\n{options}"
    offer_human: str = "Would you like to speak to a person?"
    human_called: str = "I am handing you over to a person, who can read our conversation so far."
    no_human: str = "I am afraid there is no one here I could hand you over to."
    human_declined: str = "All right, let us try again."
    unclaimed: str = "No one is free yet. Shall we go on here in the meantime?"
    released: str = "You are talking to me, the assistant, again."
    reminder: str = "Are you still there? We can continue whenever you like."
    closed: str = (
        "You have not written for a while, so I end our conversation here. To continue, just write."
    )
    returning: str = "Back to {task}."
    ask_return: str = "Shall we go on with {task}?"
    which_paused: str = "What shall we go on with?\n{options}"
    left: str = "All right, we leave {task}."
    more: str = "Is there anything else?"
    cancelled_all: str = "All right, we leave all of that."
    blocked: str = "We will get to that right after this."
    restart: str = "We have already begun {task}. What would you like to do?\n{options}"
    go_on: str = "go on with it"
    begin_anew: str = "start over"
    restarted: str = "All right, from the beginning."
    ask_restart: str = (
        "Some of this is done already, and stays so: {task}. Shall we start over all the same?"
    )
    ask_restart_unsure: str = (
        "I could not find out whether this was done: {task}. "
        "Shall we start over all the same? Then it may be done twice."
    )
    back: str = "For the {field} I have this so far: {value}."
    back_first: str = "There is nothing to go back to."
    status: str = "This is what I have so far:\n{fields}"
    status_empty: str = "I have noted nothing yet."
    status_waiting: str = "Still open: {tasks}."
    after_effect: str = "This is done: {task}, with {value} as the {field}. What now?\n{options}"
    stays_done: str = "This is done, and stays so: {task}, with {value} as the {field}."
    change_it: str = "change it"
    ask_person: str = "speak to a person"
    leave_it: str = "leave it as it is"
    effect_failed: str = "That did not work. {reason} Nothing was done."
    retry: str = "Shall I try again?"
    effect_unsure: str = "I could not find out whether that worked, so I will not do it twice."
    effect_late: str = "I have no answer yet. Asking again will not do it twice."
    effect_again: str = (
        "I could not find out whether that worked with the earlier values, "
        "so it may be done twice now."
    )
    resumed: str = "Welcome back. This is what I have so far:\n{fields}"
    expired: str = "Some time has passed, so I have to ask for the {field} again."
    summary_line: str = "- {field}: {value}"
    yes: str = "yes"
    no: str = "no"
    hidden: str = "(not shown)"


_DEFAULTS = Texts()


def placeholder_fault(name: str, text: str) -> tuple[str, str] | None:
    """Return message and remedy for a new wording of a text with an unknown placeholder."""
    default = getattr(_DEFAULTS, name)
    if text == default:
        return None
    known = BRACED.findall(default)
    unknown = [given for given in BRACED.findall(text) if given not in known]
    if not unknown:
        return None
    named = ", ".join(f"{{{one}}}" for one in known)
    message = f"has the unknown placeholder {{{unknown[0]}}}."
    return message, f"Its placeholders: {named}." if known else "It has no placeholders."


def own_words(declared: Mapping[str, Mapping[str, str]], language: str) -> dict[str, str]:
    """Return a journey's own texts in a language.

    Args:
        declared: Language -> name -> text; those under "" are used in every language.
    """
    return {**declared.get("", {}), **declared.get(language, {})}


def layered(
    below: Mapping[str, Mapping[str, str]], above: Mapping[str, Mapping[str, str]]
) -> dict[str, dict[str, str]]:
    """Return what two declare together: a text of the second counts more, in every language."""
    named = {*below, *above, ""}
    own = above.get("", {})
    return {
        key: {**below.get(key, {}), **(own if key else {}), **above.get(key, {})} for key in named
    }
