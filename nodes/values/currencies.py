"""Currencies: their codes, the digits of their amounts, and how people call them."""

from __future__ import annotations

from nodes.values.tables import words

CODES = frozenset(
    words(
        """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP
    BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
    GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR
    KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
    MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR
    SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS
    UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG
    """
    )
)
"""Codes of ISO 4217."""
_DIGITS = {
    **dict.fromkeys(
        words(
            """
    BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF
    """
        ),
        0,
    ),
    **dict.fromkeys(["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"], 3),
}
_NAMES = {
    "€": "EUR", "euro": "EUR", "euros": "EUR", "eur": "EUR", "£": "GBP", "quid": "GBP",
    "pound": "GBP", "pounds": "GBP", "pound sterling": "GBP",
    "pounds sterling": "GBP", "pfund": "GBP",
    "sterling": "GBP", "us$": "USD", "us-dollar": "USD", "us dollar": "USD", "us dollars": "USD",
    "ca$": "CAD", "c$": "CAD", "canadian dollars": "CAD", "a$": "AUD", "au$": "AUD",
    "australian dollars": "AUD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "r$": "BRL", "mx$": "MXN",
    "¥": "JPY", "yen": "JPY", "円": "JPY", "yuan": "CNY", "rmb": "CNY", "元": "CNY", "₩": "KRW",
    "won": "KRW", "원": "KRW", "₹": "INR", "rupee": "INR", "rupees": "INR", "rs": "INR",
    "franken": "CHF", "swiss francs": "CHF", "swiss franc": "CHF", "fr.": "CHF", "sfr": "CHF",
    "zł": "PLN", "złoty": "PLN", "zloty": "PLN", "zlotys": "PLN", "₽": "RUB",
    "rubles": "RUB", "roubles": "RUB",
    "₺": "TRY", "lira": "TRY", "₪": "ILS", "shekel": "ILS", "shekels": "ILS",
    "₫": "VND", "₴": "UAH", "kč": "CZK", "฿": "THB",
    "baht": "THB", "₦": "NGN", "naira": "NGN", "pesos": "MXN", "rand": "ZAR", "reais": "BRL",
    "dirham": "AED", "dirhams": "AED",
}  # fmt: skip
_DOLLARS = frozenset(["$", "dollar", "dollars", "buck", "bucks"])
_DOLLAR_OF = {
    "CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD", "HK": "HKD", "MX": "MXN", "AR": "ARS",
    "CL": "CLP", "CO": "COP", "TW": "TWD", "JM": "JMD", "BB": "BBD", "FJ": "FJD",
}  # fmt: skip
_CROWNS = frozenset(["kr", "kr.", "kronor", "kroner", "krone", "krona", "kronen"])
_CROWN_OF = {"NO": "NOK", "DK": "DKK", "IS": "ISK"}
# Other codes are words too, such as "all", "top" and "try".
_IN_SMALL_LETTERS = frozenset(
    words(
        """
    EUR USD GBP CHF JPY CAD AUD NZD SEK NOK DKK PLN CZK HUF INR CNY BRL MXN ZAR KRW SGD HKD ILS
    AED THB
    """
    )
)
_LEADING = frozenset(["euro", "rs", "kr", "sfr", *(code.lower() for code in _IN_SMALL_LETTERS)])
NAMES = frozenset([*_NAMES, *_DOLLARS, *_CROWNS])
"""What currencies are called, besides their codes."""


def digits_of(currency: str) -> int:
    """Return how many decimals amounts of a currency have."""
    return _DIGITS.get(currency, 2)


def currency_of(said: str, region: str) -> str:
    """Return the code of a currency as somebody calls it where they are; empty if it is none."""
    name = " ".join(said.casefold().split())
    if name in _DOLLARS:
        return _DOLLAR_OF.get(region, "USD")
    if name in _CROWNS:
        return _CROWN_OF.get(region, "SEK")
    if name in _NAMES:
        return _NAMES[name]
    code = name.upper()
    return code if code in CODES and (said == code or code in _IN_SMALL_LETTERS) else ""


def leads(said: str) -> bool:
    """Say whether a name of a currency may stand before the amount: no common word does."""
    return not said.isalpha() or said.isupper() or said.casefold() in _LEADING
