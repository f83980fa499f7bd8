"""How one of several things is taken in German."""

CHOICES = {
    "choice_lead": """
        ich (möchte|will|nehme|wähle|meine|meinte|hätte gern|hätte gerne|bevorzuge|glaube)
        nehmen wir|option|nummer|nr|lieber|bitte|es ist|das ist|ja|nein|ok|wir nehmen|mach
    """,
    "ordinal": """
        ((der|die|das|den|dem|option|nummer|nr|variante|antwort|möglichkeit) )*(?P<place>\\w+)( (
            option|variante|antwort|möglichkeit|davon|von beiden|punkt))?
    """,
    "negated": """
        (nein )?(nicht|alles außer|alles andere als|auf keinen fall|bloß nicht|ich (will|möchte
            |meine|meinte) nicht) (?P<named>.+)
    """,
    "neither": """
        (keins?|keine|keiner|keines|keinen)( (davon|von beiden|von denen|der beiden|von allen))?
        weder noch|nichts davon|etwas anderes|was anderes|nein( danke)?
    """,
    "meaning_go_on": """
        ({wish} )*(damit )?(weitermachen|fortfahren|fortsetzen|weiter
            |machen wir weiter|damit weitermachen|weiter damit)( damit)?
        die alte|den alten|das alte|mit dem alten|dort weitermachen wo wir waren
    """,
    "meaning_anew": """
        ({wish} )*(ganz )?(neu|von vorne|von vorn|noch ?mal von vorne
            |von neuem)( (anfangen|beginnen|starten))?
        neu anfangen|neu beginnen|neustart|eine neue|einen neuen|ein neues|neu
    """,
    "meaning_change": """
        (ja )?(ich (möchte|will) )?({it} )?(ändern|ändere|ändern sie|anpassen)( {it})?|umbuchen
        die buchung ändern
    """,
    "meaning_person": """
        (ich (möchte|will) )?mit (einem menschen|einer person|jemandem) (sprechen|reden)
        ein mensch|eine person|mensch|person
    """,
    "meaning_leave": """
        (nein )?(so )?(lassen|belassen|lass {it}|lassen sie {it}|lassen wir {it}|lass es)( so
            | dabei)?( wie es ist)?
        so lassen( wie es ist)?|nichts|nicht ändern|(nein )?schon gut|so lassen wie es ist
    """,
}
