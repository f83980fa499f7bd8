"""How yes, no and questions are said in German."""

ANSWERS = {
    "filler": """
        bitte|bitte schön|danke|danke schön|dankeschön|vielen dank|danke sehr|merci|sorry
        entschuldigung|entschuldigen sie|verzeihung|oh|ach|ah|äh|ähm|hm|hmm|naja|na ja|na|also
        so|dann
        hallo|hi|hey|guten tag|moin|servus|mal|doch|halt|eben|eigentlich|glaube ich|denke ich
        ich glaube|ich denke|einfach|jetzt|gerade|nochmal|schon|kurz|denn|gerne|gern
    """,
    "it": """
        es|das|dies|dieses|diese|den|die|ihn|sie|das da|das hier|dieser
    """,
    "good": """
        richtig|korrekt|gut|ok|okay|in ordnung|prima|perfekt|super|wahr|genau|recht|bestens|alles
    """,
    "yes": """
        ja (das )?(ist|passt|stimmt)( {it})?( so)?( {good})?
        ja (bitte|gerne|gern|genau|klar|natürlich|sicher|danke|doch|mach {it}|machen sie {it})
        j|ja|jo|jap|jep|jup|jawohl|joa|jaja|klar|na klar|aber klar|klaro|sicher|sicherlich
        natürlich|selbstverständlich|gerne|gern|sehr gerne|sehr gern|unbedingt|auf jeden fall
        auf alle fälle|absolut|definitiv|gewiss|freilich|logisch|logo|doch
        okay|ok|oke|in ordnung|geht klar|gut|na gut|alles klar|einverstanden|abgemacht
        von mir aus|meinetwegen|passt( so| für mich| schon)?|stimmt( so| genau)?|genau( so)?
        richtig( so)?|korrekt|exakt|so ist es|perfekt|super|prima|toll|wunderbar|bestätigt
        bestens
        (das|alles|so|es)( ist| wäre| klingt| sieht| passt| stimmt)( alles| so)?( {good}| gut aus)?
        sieht gut aus|klingt gut|passt alles|stimmt alles|alles {good}
        (ich )?(bestätige|stimme zu|bin einverstanden|akzeptiere)( {it})?
        (bitte )?(mach|machen sie|tun sie|tu)( {it})?( so| weiter)?|weiter( so)?|weitermachen
        machen wir( weiter)?( so)?|(ja )?lass uns( {it})? (machen|weitermachen|fortfahren)
        fortfahren|fahren sie fort|los|los gehts|nur zu|zurück dazu|kein problem|warum nicht
        das wäre (gut|nett|toll|schön|super)|ich bitte darum|mit vergnügen|bin dabei
        ich möchte {it}|will ich
    """,
    "no": """
        nein (danke|bitte nicht|lieber nicht|das (ist|stimmt) nicht( {good})?|lass {it}( so)?
            |lassen sie {it}( so)?|noch nicht|auf keinen fall)
        n|ne|nee|nö|nein|nicht|no|nope|niemals|nie|lieber nicht|besser nicht|bitte nicht
        auf keinen fall|keinesfalls|keineswegs|gar nicht|überhaupt nicht|nicht wirklich
        nicht jetzt|jetzt nicht|noch nicht|heute nicht|nicht mehr|nicht nötig|nicht notwendig
        eher nicht
        (das|es) (ist|stimmt|passt)( so)? nicht( {good}| so)?|stimmt( so)? nicht|nicht {good}
        (das ist )?(falsch|verkehrt|unrichtig)|passt nicht
        lass {it}( so| sein| gut sein)?( wie es ist)?|lassen sie {it}( so| sein)?( wie es ist)?
        lassen wir {it}( so| sein)?|(alles )?so lassen|belassen sie {it}( so)?|es bleibt so
        später|vielleicht später|ein andermal
        ich (möchte|will|brauche)( {it}| das)? nicht( mehr)?|will ich nicht|möchte ich nicht
        brauche ich nicht|ich denke nicht|ich glaube nicht|glaube nicht|danke nein|nein
    """,
    "enough": """
        (nein )?(das war|das wars|das ist|das wäre|wars)( schon)?( alles| es)?
        (nein )?(nichts|sonst nichts|nichts weiter|nichts mehr|nix)( mehr| weiter| sonst)?
        (nein )?alles (gut|klar|erledigt|bestens)|(ich )?bin (fertig|zufrieden)|passt schon
        tschüss|auf wiedersehen|tschau|ciao
    """,
    "decline": """
        (nein )?(wir|lass uns|ich|lassen sie uns|dann)( versuche| versuchen| probieren| probiere
            | machen| mache)?( wir)?( es| das)? (noch ?mal|noch einmal|erneut|weiter|selbst|selber
            |lieber warten|warte)( versuchen| probieren| machen)?
        (nein )?ich warte( lieber)?
    """,
    "thats_all": """
        keine (änderung|änderungen)|ohne änderung|nichts zu ändern
        das (ist|war) (alles|es)|(sonst )?nichts( mehr| weiter)?
    """,
    "reason": """
        (ich|wir|sie|er)( habe| hab| haben| hat| bin| sind| kann| will| möchte| brauche
            | muss)( .*)?
        habe? ich( .*)?|hat sich( .*)?|(das|es) (ist|hat|war|wurde|dauert|wird)( .*)?
        zu (teuer|spät|früh|lang|weit)( .*)?|weil( .*)?|keine zeit( .*)?
        schon (erledigt|bezahlt|gemacht)( .*)?
    """,
    "but": """
        aber|außer|nur|jedoch|sondern|bis auf|nicht|erst
    """,
    "condition": """
        wenn|falls|sofern|solange|nachdem|bevor|sobald
    """,
    "joint": """
        und|aber|auch
    """,
    "unsure": """
        na ja|naja|vielleicht|hm+|weiß nicht|mal sehen|jein
    """,
    "yes_alone": """
        (ja )?(das )?(will|möchte|mache|habe|bin|kann) ich( {it})?|bitte( schön)?
    """,
    "no_alone": """
        (nein )?(ich )?(will|möchte|mache|habe|bin|kann)( ich)?( {it})? nicht
    """,
    "asking": """
        warum|wieso|weshalb|was|wie(?! wäre)|wann|wo|wer|wen|wem|welche|welcher|welches|wozu|wofür
    """,
    "question": """
        warum|wieso|weshalb|was|wie|wann|wo|wohin|woher|wer|wen|wem|welche|welcher|welches
        welchen|wozu|wofür|gibt es|ist das|ist es|sind sie|haben sie|hast du|kann ich|könnte ich
        darf ich|können sie|kannst du|könnten sie|muss ich|brauche ich|kostet|wird
    """,
    "wonder": """
        warum|wieso|weshalb|was|wie(?! wäre)|wann|wo|wohin|woher|wer|wen|wem|welche|welcher
        welches|welchen|wozu|wofür|gibt es|sind sie|haben sie|hast du|können sie|kannst du
        könnten sie|muss ich|brauche ich|kostet
    """,
    "name_lead": """
        (mein|der|ihr|sein) (name|vorname|nachname) (ist|lautet)|name|ich heiße|ich bin|das ist
        es ist|hier ist|hier spricht|ich wohne (in|an|am)|wir wohnen (in|an|am)|bitte
        auf den namen|meine (adresse|anschrift) (ist|lautet)
    """,
}
