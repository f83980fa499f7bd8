"""Days of the calendar, near to a day."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta


def day_of(year: int, month: int, day: int) -> date | None:
    """Return a day, or None if the calendar has no such one."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def next_year_day(day: int, month: int, today: date, past: bool) -> date | None:
    """Return the next day of a month from today on, or the last one until today."""
    years = range(today.year, today.year - 9, -1) if past else range(today.year, today.year + 9)
    days = (day_of(year, month, day) for year in years)
    if past:
        return next((found for found in days if found and found <= today), None)
    return next((found for found in days if found and found >= today), None)


def in_month(day: int, today: date, past: bool) -> date | None:
    """Return the next day of that number from today on, or the last one until today."""
    year, month = today.year, today.month
    for _ in range(13):
        found = day_of(year, month, day)
        if found and (found <= today if past else found >= today):
            return found
        year, month = _moved(year, month, -1 if past else 1)
    return None


def after_months(day: date, months: int) -> date | None:
    """Return the same day some months on, or the last one of that month."""
    year, month = _moved(day.year, day.month, months)
    if not 1 <= year <= 9999:
        return None
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def after_days(day: date, days: int) -> date | None:
    """Return the day some days on; None past the end of the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _moved(year: int, month: int, months: int) -> tuple[int, int]:
    count = year * 12 + month - 1 + months
    return count // 12, count % 12 + 1
