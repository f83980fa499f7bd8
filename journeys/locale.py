"""The locale of a journey, a session or a process: language, region, time zone and formats."""

import os
import re
from collections.abc import Mapping
from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Annotated, Any

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import wrong
from journeygraph.journeys.definitions.value_types import Checked
from journeygraph.journeys.errors import did_you_mean, shown

_FILES = os.listdir(os.path.join(os.path.dirname(__file__), "languages"))
LANGUAGES = ("en", *sorted(name[:2] for name in _FILES if re.fullmatch(r"(?!en)..\.yaml", name)))
"""Languages that the runtime's own texts are shipped in: those that have a file."""
FIRST_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DATE_ORDERS = ("dmy", "mdy")
DECIMAL_SIGNS = (".", ",")
CLOCKS = ("12h", "24h")
_REGIONS = """
    AC AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC
    EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK
    HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB
    LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ
    NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU
    RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM
    TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW
"""
REGIONS = frozenset(_REGIONS.split())
"""Countries, as ISO 3166 codes."""
_LONGEST_ZONE = 100
_USUAL_SLIPS = {"UK": "GB", "EN": "GB", "USA": "US", "GER": "DE", "D": "DE", "AUT": "AT"}
_KNOWN = {
    "language": LANGUAGES,
    "first_day": FIRST_DAYS,
    "date_order": DATE_ORDERS,
    "decimal_sign": DECIMAL_SIGNS,
    "clock": CLOCKS,
}


def _part(name: str, schema: Mapping[str, Any]) -> Any:
    def fit(value: Any, _: Any) -> Any:
        if remedy := part_remedy(name, value):
            raise wrong(remedy)
        return value

    return Checked(fit, {"type": "string", **schema})


def _named(name: str) -> Any:
    return _part(name, {"enum": list(_KNOWN[name])})


_LANGUAGE = _part("language", {"pattern": f"^({'|'.join(LANGUAGES)})(-[A-Z]{{2}})?$"})


class Locale(Definition):
    """Language, region, time zone and formats of users.

    A part that is None comes from other sources.

    Part by part the journey's counts, else what the session brought, else the config's, else the
    environment's, else English of the United States in UTC.

    Attributes:
        language: Language of the runtime's own texts, as a code of two letters: "en", "de", "es",
            "fr". A tag with a region, "de-DE", sets both. Default: "en", if no other source sets
            it.
        region: Country, as an ISO 3166 code of two capitals: how dates, numbers, amounts and
            telephone numbers are read and shown. Default: "US", if no other source sets it.
        timezone: IANA name of the time zone of "today" and "at seven". Default: "UTC", if no other
            source sets it.
        first_day: First day of the week, "monday" to "sunday", for "sunday next week". Default: as
            in the region.
        date_order: "dmy" or "mdy": how "04/03/2027" is read. Default: as in the region.
        decimal_sign: "." or ",": how "1,234" is read, and numbers are shown. Default: as in the
            region.
        clock: "12h" or "24h": how times are shown. Default: as usual in the language.

    Raises:
        ConfigurationError: A part is unknown, with did-you-mean.
    """

    _: KW_ONLY
    language: Annotated[str, _LANGUAGE] | None = None
    region: Annotated[str, _part("region", {})] | None = None
    timezone: Annotated[str, _part("timezone", {})] | None = None
    first_day: Annotated[str, _named("first_day")] | None = None
    date_order: Annotated[str, _named("date_order")] | None = None
    decimal_sign: Annotated[str, _named("decimal_sign")] | None = None
    clock: Annotated[str, _named("clock")] | None = None

    def model_post_init(self, _: Any) -> None:
        """Split a tag such as "de-DE" into two parts."""
        if tag := _tag(self.language):
            self.__dict__.update(language=tag[1], region=self.region or tag[2])

    @property
    def parts(self) -> dict[str, str]:
        """The parts that are decided, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def over(self, other: "Locale") -> "Locale":
        """Return this locale, with the other's parts where it has none."""
        return locale_of({**other.parts, **self.parts})


def locale_of(parts: Mapping[str, str]) -> Locale:
    """Return the locale of these parts."""
    return _made(tuple(sorted(parts.items()))) if parts else NOWHERE


@lru_cache(maxsize=1024)
def _made(parts: tuple[tuple[str, str], ...]) -> Locale:
    return Locale(**dict(parts))


@lru_cache(maxsize=1024)
def in_force(journey: Locale, session: Locale, config: Locale) -> Locale:
    """Return the locale in force, part by part; language, region, time zone are always decided."""
    return journey.over(session).over(config).over(DEFAULT)


def of_environment() -> Locale:
    """Return the locale of the process, from `TZ`, and `LC_*` or `LANG`.

    Values that are not known here, as in "C.UTF-8", set no part of it.
    """
    said = os.environ.get
    everywhere, plain = said("LC_ALL"), said("LANG") or ""
    language, habits = said("LC_MESSAGES") or plain, said("LC_TIME") or plain
    return _of_variables(said("TZ") or "", everywhere or language, everywhere or habits)


@lru_cache(maxsize=64)
def _of_variables(zone: str, language: str, habits: str) -> Locale:
    region = re.match(r"[a-z]{2,3}_([A-Z]{2})(?![A-Za-z])", habits)
    given = {
        "language": re.split("[_.@]", language)[0],
        "region": region[1] if region else "",
        "timezone": zone.removeprefix(":"),
    }
    return locale_of({n: value for n, value in given.items() if value and not part_fault(n, value)})


def _tag(language: Any) -> re.Match[str] | None:
    """Return a language and a region that are written as one tag; None if they are not."""
    found = re.fullmatch(r"([a-z]{2})-([A-Z]{2})", language) if isinstance(language, str) else None
    return found if found and found[1] in LANGUAGES and found[2] in REGIONS else None


def part_fault(name: str, value: Any) -> str:
    """Return what is wrong with a part of a locale: "is 'x'; it must be ..."; empty if nothing."""
    remedy = part_remedy(name, value)
    return f"is {shown(value)}; {remedy}" if remedy else ""


def part_remedy(name: str, value: Any) -> str:
    """Return what a part of a locale must be, without repeating it; empty if it is so."""
    if name == "region":
        return _region_remedy(value)
    if name == "timezone":
        return _zone_remedy(value)
    known = _KNOWN[name]
    if value in known or (name == "language" and _tag(value)):
        return ""
    return f"it must be one of {', '.join(known)}.{did_you_mean(str(value).lower(), known)}"


def _region_remedy(region: Any) -> str:
    if isinstance(region, str) and region in REGIONS:
        return ""
    capitals = region.strip().upper()[:3] if isinstance(region, str) else ""
    meant = _USUAL_SLIPS.get(capitals, capitals)
    hint = f" Did you mean '{meant}'?" if meant in REGIONS else ""
    return f"it must be a country as two capitals, such as 'US' or 'DE'.{hint}"


def _zone_remedy(timezone: Any) -> str:
    if timezone == "UTC":
        return ""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones  # noqa: PLC0415

    hint = ""
    if isinstance(timezone, str) and len(timezone) <= _LONGEST_ZONE:
        try:
            ZoneInfo(timezone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            hint = _zone_meant(timezone, available_timezones())
        else:
            return ""
    return f"it must be an IANA name, such as 'Europe/Berlin'.{hint}"


def _zone_meant(written: str, known: set[str]) -> str:
    plain = written.strip().replace(" ", "_").lower()
    if not plain:
        return ""
    names = {name.lower(): name for name in sorted(known)}
    cities = {name.rpartition("/")[2]: full for name, full in names.items() if "/" in name}
    if exact := names.get(plain) or cities.get(plain):
        return f" Did you mean '{exact}'?"
    hint = did_you_mean(plain, list(names))
    return re.sub("'(.+)'", lambda found: f"'{names[found[1]]}'", hint)


# Not validated: that would build a validator at import.
DEFAULT = Locale.model_construct(language="en", region="US", timezone="UTC")
"""Default locale."""
NOWHERE = Locale.model_construct()
"""A locale that decides nothing."""
