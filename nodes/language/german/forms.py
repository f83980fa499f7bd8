"""How something said before is corrected in German."""

FORMS = {
    "lead": """
        oh|ach|äh|ähm|hm|moment|moment mal|warte|warten sie|halt|sorry|entschuldigung|verzeihung
        eigentlich|nein|nee|nö|doch|ups|mein fehler|korrektur|ok|okay|also|und|ja|bitte
        tut mir leid|nein warte|dann|gut|na gut|nun
    """,
    "meant": """
        ich (meinte|meine|wollte|wollte sagen|hatte gemeint)( eigentlich)?|meinte
        gemeint (war|ist)|(es|das) (sollte|soll|muss|müsste)
        (mach|machen sie|ändern sie|ändere|setzen sie) (es|das|daraus|das doch)( auf| zu| in)?
        (mach|machen sie)( bitte)?( doch)?|lieber|besser|sagen wir
    """,
    "form_contrast": """
        (?P<new>.+?) (?:, )?(?:(?:und|aber) )?nicht (?P<old>[^,]+)(?: ,.*)?
        (?:(?:es ist|es war|das ist|das war|ich meinte) )?nicht (?P<old>.+?) ?(?:, )?(?:sondern
            |vielmehr) (?P<new>.+)
        (?:(?:es ist|es war|das ist|das war) )?nicht (?P<old>[^,]+?) ?, (?P<new>.+)
        (?P<new>.+?) (?:statt|anstatt|anstelle von) (?P<old>.+)
        statt (?P<old>[^,]+?) (?:, |lieber )+(?P<new>.+)
    """,
    "form_named": """
        (?:(?:bitte|ich möchte|ich will|können sie|könnten sie|kannst du|ich muss) )*(?:ändere
            |ändern|ändern sie|setze|setzen|setzen sie|korrigiere|korrigieren|korrigieren sie
            |stelle|stellen sie|verschiebe|verschieben|verschieben sie|verlege
            |verlegen sie)(?: bitte)? (?:den|die|das|meine|meinen|mein|unsere
            |unseren) (?P<what>[^,]+?) (?:auf|in|zu|nach) (?P<new>.+?)(?: ändern| setzen
            | verschieben| korrigieren)?
        (?:(?:bitte|ich möchte|ich will|können sie|könnten sie|kannst du|ich muss) )*(?:den|die
            |das|meine|meinen|mein|unsere|unseren) (?P<what>[^,]+?) (?:auf|in|zu
            |nach) (?P<new>.+?) (?:ändern|setzen|verschieben|korrigieren|verlegen)
        (?:der|die|das|mein|meine|unser|unsere) (?P<what>[^,]+?) (?:soll|sollte|muss
            |müsste) (?P<new>.+?)(?: sein| lauten| heißen)
        (?:der|die|das|mein|meine|unser|unsere) (?:richtige|korrekte|neue) (?P<what>[^,]+?) (?:ist
            |lautet|war) (?P<new>.+)
        (?:der|die|das|mein|meine|unser|unsere) (?P<what>[^,]+?) (?:ist|war|lautet)(?: eigentlich
            | doch| jetzt)? (?!falsch|nicht|verkehrt)(?P<new>.+)
    """,
    "form_carried": """
        (?:(?:und|aber|auch) )*(?:den|die|das|meine|meinen|mein|unsere
            |unseren) (?P<what>[^,]+?) (?:auf|in|zu|nach) (?P<new>.+)
    """,
    "form_clear": """
        (?:(?:bitte|ich möchte|ich will|ich würde gern|ich würde gerne|kann ich|können sie
            |könnten sie|können wir|ich muss|darf ich) )*(?:den|die|das|meine|meinen|mein|unsere
            |unseren) (?P<what>[^,]+?) (?:noch ?mal )?(?:ändern|korrigieren|berichtigen|anpassen
            |löschen|aktualisieren|verbessern|neu eingeben)
        (?:ändere|ändern sie|korrigiere|korrigieren sie|lösche|löschen sie)(?: bitte)? (?:den|die
            |das|meine|meinen|mein|unsere|unseren) (?P<what>[^,]+?)
        (?:der|die|das|mein|meine|unser|unsere) (?P<what>[^,]+?) (?:ist|war|stimmt|passt
            |sind)(?: leider| so| noch)? (?:falsch|nicht|nicht richtig|nicht korrekt|verkehrt
            |nicht mehr richtig)
        (?:(?:das ist|das war) )?(?:(?:der|die|das|ein|eine|einen) )?(?:falsche|falscher|falsches
            |falschen|verkehrte|verkehrter) (?P<what>[^,]+)
        nicht (?:der|die|das|den|diese|dieser|dieses|diesen|dem) (?P<what>[^,]+)
        das ist nicht (?:mein|meine|der|die|das) (?P<what>[^,]+)
    """,
    "form_denied": """
        ich (?:meinte|meine|wollte|habe|will)(?: auch)? nicht (?P<old>[^,]+?)(?: gemeint| gesagt)?
        (?:das ist|es ist|das war|es war) nicht (?P<old>[^,]+)
        nicht (?P<old>[^,]+)
    """,
    "form_said": """
        (?:.+ )?(?:ist|war|waren|sind|heißt|lautet|meinte|auf) (?P<new>.+)
    """,
    "we_are": """
        wir sind|wir werden|es sind|wir kommen zu|es kommen|wir sind zu
    """,
    "form_named_other": """
        (?:(?:und|aber|also|oh) )*(?:sein|ihr) name ist\\b
        (?:(?:und|aber|also|oh) )*(?:mein|meine|unser|unsere) (?!name)[^ ,]+ heißt\\b
    """,
    "form_subject": """
        (?:.*, )?(?:(?:und|aber|also|oh|weil) )*(?:mein|meine|sein|seine|ihr|ihre|unser|unsere
            |dein|deine|der|die|das|ein|eine) (?P<subject>[^ ,]+(?: [^ ,]+)??) (?:ist|war|sind
            |waren|hat|hatte|wird|wiegt|kostet|wohnt|beginnt|endet)\\b
        (?:(?:und|aber|also|oh) )*(?P<subject>ich|er|sie|wir|du) (?:war|sah|traf|hörte|verlor|aß|las
            |gewann|sagte|hasse|verpasste|kaufte|vergaß)\\b
    """,
}
