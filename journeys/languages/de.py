"""The catalogue in German: everybody is addressed by "Sie", and by "du" where it is casual.

What users call a thing stands where its grammatical case does not matter: its author writes it in
the nominative.
"""

from __future__ import annotations

from collections.abc import Mapping

NEUTRAL: Mapping[str, str] = {
    "closing": "Damit ist alles erledigt. Wenn Sie noch etwas brauchen, sagen Sie es einfach.",
    "apology": (
        "Entschuldigung, bei uns ist etwas schiefgegangen. Nichts ging verloren; bitte versuchen "
        "Sie es noch einmal."
    ),
    "too_deep": "Bringen wir erst zu Ende, was noch offen ist; danach kommen wir dazu.",
    "empty": "Ich habe nichts verstanden. Was möchten Sie sagen?",
    "too_long": "Das ist mehr, als ich auf einmal lesen kann. Können Sie es kürzer sagen?",
    "refused": "Hier komme ich gerade nicht weiter. Bitte versuchen Sie es später noch einmal.",
    "unsafe": "Darauf kann ich hier nicht antworten. Kann ich sonst etwas für Sie tun?",
    "unsure": "Ich weiß nicht, ob ich dabei helfen kann. Was möchten Sie tun?",
    "which": "Wobei kann ich Ihnen helfen? {journeys}",
    "cancelled": "In Ordnung, das lassen wir. Kann ich sonst noch etwas für Sie tun?",
    "ask": "Was darf ich bei „{field}“ eintragen?",
    "ask_choice": "{question} ({choices})",
    "not_text": "Das habe ich nicht verstanden.",
    "not_integer": "Das ist keine ganze Zahl.",
    "not_number": "Das ist keine Zahl.",
    "not_boolean": "Bitte antworten Sie mit Ja oder Nein.",
    "not_date": "Das kann ich nicht als Datum lesen.",
    "not_time": "Das kann ich nicht als Uhrzeit lesen.",
    "not_datetime": "Das kann ich nicht als Datum mit Uhrzeit lesen.",
    "not_money": "Das kann ich nicht als Geldbetrag lesen.",
    "not_email": "Das ist keine gültige E-Mail-Adresse.",
    "not_phone": "Das ist keine gültige Telefonnummer.",
    "not_name": "Das sieht nicht wie ein Name aus.",
    "not_address": "Das sieht nicht wie eine Adresse aus.",
    "not_enum": "Bitte wählen Sie aus: {choices}.",
    "not_list": "Ich habe nicht verstanden, was auf die Liste soll.",
    "out_of_range": "Möglich ist alles von {least} bis {most}.",
    "too_low": "Möglich ist alles ab {least}.",
    "too_high": "Möglich ist alles bis {most}.",
    "too_short": "Es müssen mindestens {least} Zeichen sein.",
    "too_few": "Davon brauche ich mindestens {least}.",
    "too_many_characters": "Es dürfen höchstens {most} Zeichen sein.",
    "too_many_items": "Davon kann ich höchstens {most} annehmen.",
    "not_matching": "Das hat nicht die Form, die ich brauche.",
    "refused_value": "Das kann ich nicht annehmen.",
    "hint": "Das kann ich annehmen: {hint}.",
    "exhausted": "Bei „{field}“ kommen wir nicht weiter.",
    "summary": "Ich fasse zusammen:\n{fields}\nStimmt das so?",
    "summary_wrong": "Was soll anders sein?",
    "corrected": "In Ordnung, „{field}“ ist jetzt {value}.",
    "confirm_correction": "Soll ich „{field}“ auf {value} ändern?",
    "kept": "In Ordnung, „{field}“ bleibt {value}.",
    "emptied": "In Ordnung, „{field}“ habe ich entfernt.",
    "no_longer_valid": "Damit passt „{field}“ nicht mehr. {reason}",
    "skipped": "Das ist in Ordnung, wir lassen es offen.",
    "required": "Ohne die Angabe „{field}“ geht es nicht weiter. {description}",
    "explain": "{description}",
    "explain_plain": "Ohne die Angabe „{field}“ geht es nicht weiter.",
    "wait": "Lassen Sie sich Zeit.",
    "noise": "Das habe ich nicht verstanden.",
    "off_topic": "Kommen wir zurück zum Thema.",
    "off_topic_again": "Ich kann nur hierbei helfen: {tasks}.",
    "unsupported": "Das kann ich hier nicht. Dabei kann ich helfen: {tasks}.",
    "clarify": "Was davon meinen Sie?\n{options}",
    "clarify_again": "Ich bin noch nicht sicher. Bitte wählen Sie aus:\n{options}",
    "offer_human": "Möchten Sie mit einem Menschen sprechen?",
    "human_called": "Ich übergebe Sie an einen Menschen, der alles bisher Gesagte lesen kann.",
    "no_human": "Hier ist leider niemand, an den ich Sie übergeben könnte.",
    "human_declined": "In Ordnung, versuchen wir es noch einmal.",
    "unclaimed": "Es ist noch niemand frei. Wollen wir solange hier weitermachen?",
    "released": "Sie sprechen jetzt wieder mit mir, dem Assistenten.",
    "returning": "Weiter geht es hiermit: {task}.",
    "ask_return": "Wollen wir hiermit weitermachen: {task}?",
    "which_paused": "Womit wollen wir weitermachen?\n{options}",
    "left": "In Ordnung, das lassen wir: {task}.",
    "more": "Kann ich sonst noch etwas für Sie tun?",
    "cancelled_all": "In Ordnung, das lassen wir alles.",
    "blocked": "Dazu kommen wir gleich im Anschluss.",
    "restart": "Das haben wir schon begonnen: {task}. Was möchten Sie tun?\n{options}",
    "go_on": "damit weitermachen",
    "begin_anew": "von vorn anfangen",
    "after_effect": (
        "Das ist schon erledigt: {task}, mit {value} als „{field}“. Was möchten Sie tun?\n{options}"
    ),
    "change_it": "es ändern",
    "ask_person": "mit einem Menschen sprechen",
    "leave_it": "es so lassen",
    "effect_failed": "Das hat nicht geklappt. {reason} Es ist nichts geschehen.",
    "retry": "Soll ich es noch einmal versuchen?",
    "effect_unsure": (
        "Ich konnte nicht feststellen, ob das geklappt hat, und mache es deshalb nicht ein "
        "zweites Mal."
    ),
    "effect_late": "Ich habe noch keine Antwort. Auch ein neuer Versuch macht es nicht doppelt.",
    "resumed": "Willkommen zurück. Das weiß ich bisher:\n{fields}",
    "expired": "Es ist einige Zeit vergangen, deshalb muss ich „{field}“ noch einmal abfragen.",
    "summary_line": "- {field}: {value}",
    "yes": "ja",
    "no": "nein",
    "hidden": "(nicht angezeigt)",
}

FORMAL: Mapping[str, str] = {
    "closing": "Damit ist alles erledigt. Sollten Sie noch etwas wünschen, sagen Sie es bitte.",
    "apology": (
        "Ich bitte um Entschuldigung: Bei uns ist ein Fehler aufgetreten. Nichts ging verloren; "
        "bitte versuchen Sie es noch einmal."
    ),
    "which": "Womit darf ich Ihnen behilflich sein? {journeys}",
    "cancelled": "Gern, das ist abgebrochen. Darf ich sonst noch etwas für Sie tun?",
    "summary": "Darf ich zusammenfassen:\n{fields}\nIst das so richtig?",
    "confirm_correction": "Darf ich „{field}“ auf {value} ändern?",
    "skipped": "Selbstverständlich, das kann offen bleiben.",
    "wait": "Selbstverständlich, lassen Sie sich bitte Zeit.",
    "offer_human": "Wünschen Sie ein Gespräch mit einer Mitarbeiterin oder einem Mitarbeiter?",
    "ask_return": "Darf ich hiermit fortfahren: {task}?",
    "more": "Darf ich sonst noch etwas für Sie tun?",
}

CASUAL: Mapping[str, str] = {
    "closing": "Alles erledigt! Wenn du noch was brauchst, sag einfach Bescheid.",
    "apology": (
        "Sorry, bei uns ist was schiefgegangen. Nichts ging verloren; versuch es einfach noch mal."
    ),
    "too_deep": "Lass uns erst fertig machen, was noch offen ist; dann kommen wir dazu.",
    "empty": "Da kam nichts bei mir an. Was möchtest du sagen?",
    "too_long": "Das ist mehr, als ich auf einmal lesen kann. Geht es auch kürzer?",
    "refused": "Hier komme ich gerade nicht weiter. Versuch es später noch mal.",
    "unsafe": "Darauf kann ich hier nicht antworten. Kann ich sonst was für dich tun?",
    "unsure": "Ich weiß nicht, ob ich dabei helfen kann. Was möchtest du tun?",
    "which": "Wobei kann ich dir helfen? {journeys}",
    "cancelled": "Okay, das lassen wir. Sonst noch was?",
    "ask": "Was soll ich bei „{field}“ eintragen?",
    "not_boolean": "Sag bitte einfach Ja oder Nein.",
    "not_enum": "Such dir bitte eins aus: {choices}.",
    "hint": "Das geht: {hint}.",
    "summary": "Das habe ich:\n{fields}\nPasst das so?",
    "corrected": "Alles klar, „{field}“ ist jetzt {value}.",
    "kept": "Okay, „{field}“ bleibt {value}.",
    "emptied": "Okay, „{field}“ habe ich entfernt.",
    "skipped": "Kein Problem, das lassen wir offen.",
    "wait": "Klar, lass dir Zeit.",
    "noise": "Das habe ich nicht verstanden, sorry.",
    "off_topic": "Lass uns zurück zum Thema kommen.",
    "clarify": "Was davon meinst du?\n{options}",
    "clarify_again": "Ich bin noch nicht sicher. Such dir bitte eins aus:\n{options}",
    "offer_human": "Möchtest du mit einem Menschen sprechen?",
    "human_called": "Ich übergebe dich an einen Menschen, der alles bisher Gesagte lesen kann.",
    "no_human": "Hier ist leider niemand, an den ich dich übergeben könnte.",
    "human_declined": "Okay, versuchen wir es noch mal.",
    "unclaimed": "Es ist noch niemand frei. Wollen wir solange hier weitermachen?",
    "released": "Jetzt bin ich wieder da, der Assistent.",
    "left": "Okay, das lassen wir: {task}.",
    "more": "Sonst noch was?",
    "cancelled_all": "Okay, das lassen wir alles.",
    "restart": "Das haben wir schon angefangen: {task}. Was möchtest du tun?\n{options}",
    "after_effect": (
        "Das ist schon erledigt: {task}, mit {value} als „{field}“. Was möchtest du tun?\n{options}"
    ),
    "effect_failed": "Das hat nicht geklappt. {reason} Es ist nichts passiert.",
    "retry": "Soll ich es noch mal versuchen?",
    "resumed": "Schön, dass du wieder da bist. Das weiß ich bisher:\n{fields}",
    "expired": "Es ist eine Weile her, deshalb muss ich „{field}“ noch mal abfragen.",
}
