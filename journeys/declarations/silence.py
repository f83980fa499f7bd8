"""Silence: the reminders and the end of a conversation in which the user sends no message."""

from collections.abc import Iterator
from dataclasses import KW_ONLY

from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.value_types import Duration, Listed, Text, time_in_words
from journeygraph.journeys.faults import Fault


class Reminder(Definition):
    """A reply that is sent once if the user sends no message for some time.

    Attributes:
        after: The time since the last message of the user, such as "20 hours", or a `timedelta`.
        say: The text. Default: the text `reminder` of the catalogue.

    Example:
        >>> Reminder("1 day", "Shall we continue?").after
        86400
    """

    after: Duration
    say: Text = ""


class Silence(Definition):
    """Reminders and the end of a session if the user sends no message.

    The times count from the last message.

    Attributes:
        reminders: The reminders, each sent once.
        close_after: The time after which the session is closed, such as "7 days". A later message
            opens it again. Default: never.
        closing: The text at its end. Default: the text `closed` of the catalogue.

    Raises:
        ConfigurationError: A time is not valid, two reminders have the same time, or one of them
            would come after the end.
    """

    _: KW_ONLY
    reminders: Listed[Reminder] = ()
    close_after: Duration | None = None
    closing: Text = ""

    @rule("reminders", "close_after")
    def _is_in_order(self) -> Iterator[Fault]:
        if not self.reminders and self.close_after is None:
            yield Fault("it does nothing.", remedy="Give it reminders, or close_after.")
        times = [reminder.after for reminder in self.reminders]
        for number, after in enumerate(times):
            if after in times[:number]:
                said = f"two reminders come after {time_in_words(after)}."
                yield Fault(said, "reminders", number, remedy="Remove one, or change its time.")
            if self.close_after is not None and after >= self.close_after:
                end = time_in_words(self.close_after)
                said = f"a reminder after {time_in_words(after)} never comes: the session is closed"
                remedy = "Give it a shorter time, or the end a longer one."
                yield Fault(f"{said} after {end}.", "reminders", number, remedy=remedy)

    @rule("closing", "close_after")
    def _has_an_end(self) -> Iterator[Fault]:
        if self.closing and self.close_after is None:
            said = "closing has no effect, because the session is not closed."
            yield Fault(said, "closing", remedy="Set close_after.")
