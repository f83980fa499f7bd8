"""How one speaks of the talk itself in German: stop, again, why, a person."""

SIGNALS = {
    "wish": """
        ich (möchte|will|würde gern|würde gerne|wollte|muss)|(können|könnten) (sie|wir)|bitte
        (kannst|könntest) du|lass uns|wir|(kann|könnte|darf|dürfte) ich
    """,
    "cancel": """
        ({wish} )*{it}? ?(stopp|stop|stoppen|abbrechen|abbruch|aufhören|beenden|stornieren
            |anhalten|halt)( {it})?( jetzt| hier)?
        (brich|breche|brechen sie|brechen wir|beenden sie|beende)( {it}| das)?( bitte)? ?(ab)?
        hör(en sie|t)?( damit| bitte)? auf
        ich (möchte|will) ({it} )?nicht (mehr|weiter|weitermachen|fortfahren)
        schluss( damit| jetzt)?|ich gebe? auf|das wird nichts
    """,
    "give_up": """
        vergiss {it}|vergessen sie {it}|vergessen wir {it}|egal|schon gut|ist egal|macht nichts
        nicht so wichtig|nicht wichtig|lass {it}( gut)?( sein| bleiben)?|lassen sie {it}( sein)?
        lassen wir {it}( sein)?|(doch )?nicht|ich hab(e)?( es)? mir( {it})? anders überlegt
        hat sich erledigt|hat sich schon erledigt
    """,
    "cancel_all": """
        (vergiss|vergessen sie|vergessen wir|stoppen sie|brechen sie|brich|beende|beenden sie
            |storniere|lass|lassen wir)( bitte)? (alles|das alles|den ganzen kram)( ab| sein)?
        ({wish} )*alles (abbrechen|vergessen|stoppen|beenden|stornieren|löschen|verwerfen)
    """,
    "task": """
        ({wish} )*{the} (?P<task>.+) (abbrechen|stoppen|beenden|stornieren|vergessen|verwerfen)
        (vergiss|vergessen sie|stoppen sie|beende|beenden sie|storniere
            |stornieren sie) {the} (?P<task>.+)
        (brich|brechen sie|breche) {the} (?P<task>.+) ab
    """,
    "the": """
        den|die|das|meine|meinen|mein|diese|diesen
    """,
    "any_task": """
        ((ganze|ganzen|aktuelle|aktuellen) )?(vorgang|aufgabe|prozess|formular|sache|gespräch
            |anfrage|ganze)
    """,
    "repeat": """
        ({wish} )*((das|die frage|die letzte frage|es) )?(bitte )?{anew}( (sagen|wiederholen|fragen
            |stellen))*
        (wiederhole|wiederholen sie|wiederhol)( bitte)?( {it}| die frage)?
        (sag|sagen sie)( mir)?( {it})?( bitte)? (noch ?mal|noch einmal)|wie bitte
        wie war (das|die frage)( noch ?mal| gleich)?|was haben sie( gerade)? (gesagt|gefragt)
        was hast du( gerade)? (gesagt|gefragt)|was|hä|bitte was
        (das )?(habe|hab) ich nicht (verstanden|mitbekommen|gehört)
        ich habe? (das|es|die frage)? ?nicht (verstanden|mitbekommen|gehört)|was sagten sie
        was war die frage
    """,
    "anew": """
        noch ?mal|noch einmal|wiederholen|erneut
    """,
    "wait": """
        {bit_lead}?( )?(einen|ein|ne|eine|nen|zwei|paar|ein paar)? ?(kleinen )?(moment|augenblick
            |sekunde|minute|sekunden|minuten|momentchen|sek|min)( bitte| mal| geduld| noch)*
        warte|warten sie|wart mal|warte mal|moment mal|sekunde mal
        bin gleich (da|zurück|wieder da)|gleich
        ich (suche|schaue|gucke|hole|muss) ((mal|kurz|eben|gerade|nur) )*({it} )?(nach|nachsehen
            |nachschauen|schauen|suchen|holen|raus|gucken)?
        lass mich( kurz| mal)? (überlegen|nachdenken|nachsehen|nachschauen|schauen|suchen)
        lassen sie mich( kurz| mal)? (überlegen|nachdenken|nachsehen|nachschauen|schauen|suchen)
        ich brauche (noch )?(etwas )?zeit
    """,
    "bit_lead": """
        (geben sie mir|gib mir|warten sie|warte|ich brauche|nur|noch|bitte|kleinen
            |gedulden sie sich)( bitte| noch| mal| nur)?
    """,
    "busy": """
        (ich|muss|ich muss|da muss ich|ich hole|ich suche)( .*)? (suchen|holen|nachsehen
            |nachschauen|schauen|überlegen|nachdenken|finden|fragen|telefonieren|nach|raus)
        ich (suche|hole|schaue|überlege|muss)( .*)?|es klingelt( .*)?
    """,
    "skip": """
        ((ich möchte|können wir|kann ich|will ich|ich will|wir) )?(({it}|diese frage
            |die frage) )?(überspringen|auslassen|weglassen|überspring|überspringe
            |überspringen wir|überspringen sie)( {it}| die frage)?
        nächste( frage)?|weiter zur nächsten( frage)?|ohne( {it})?
        ({it} )?(ich )?(möchte|will|werde|sage|verrate)( ich)?( {it})? ?((ihnen|dir) )?((lieber
            |gerne|gern) )?nicht( so gern)? ?(sagen|verraten|angeben|beantworten|preisgeben
            |mitteilen)?
        keine (angabe|angaben|auskunft)|dazu (sage|möchte) ich nichts( sagen)?
        lieber nicht( sagen)?|geht (sie|dich|euch|niemanden) nichts an|das ist privat|privat
        kein kommentar|entfällt|trifft nicht zu|leer lassen
        das (sage|verrate) ich( ihnen| dir)? (nicht|lieber nicht)|(das )?behalte ich für mich
    """,
    "lacking": """
        (ich )?(habe|hab)( ich)? (keine|keinen|kein|nicht)( \\w+)?|(hab|habe) ich nicht
        gibt es nicht|gibts nicht
    """,
    "unknown": """
        keine ahnung|(das )?weiß (ich )?((das|es) )?((gerade|leider|noch) )?nicht( mehr| genau)?
        ich weiß ((das|es) )?((gerade|leider|noch) )?nicht( mehr| genau)?
        (das )?weiß ich ((gerade|leider|noch) )?nicht( mehr| genau)?
        ich (bin|bin mir) (nicht|unsicher)( sicher)?|nicht sicher|unsicher
        (das )?(habe|hab) ich vergessen|ich (habe|hab) es vergessen|kein plan|null ahnung
        woher soll ich das wissen|ich erinnere mich nicht( mehr)?
    """,
    "nothing": """
        nein|nö|nee|nichts|nein danke|keine|keins|keinen|kein|nichts (besonderes|weiter|mehr)
        nicht wirklich|nix
    """,
    "explain": """
        ((und|aber) )?(warum|wieso|weshalb|wozu|wofür)( denn| das| eigentlich| das denn)?
        (warum|wieso|weshalb|wozu|wofür) (brauchen|wollen|benötigen|fragen|müssen|möchten) (sie
            |wir)( {what})?( wissen)?
        (warum|wieso|weshalb|wozu|wofür) (brauchst|willst|benötigst|fragst
            |musst) du( {what})?( wissen)?
        (warum|wieso|wozu|wofür) (ist|wird) {it}( denn)? (nötig|notwendig|wichtig|gebraucht
            |benötigt|erforderlich)
        (wozu|wofür) (ist|soll|brauchts|dient) {it}( gut| sein| denn)*
        ist {it} ((wirklich|unbedingt) )?(nötig|notwendig|erforderlich|pflicht)
        muss ich {it}( wirklich)? (sagen|angeben|beantworten)|muss {it}( wirklich)? sein
        was (bedeutet|heißt|meinen sie mit|meinst du mit|passiert mit|machen sie mit) {it}
        was (meinen sie|meinst du)( damit)?|was soll {it}
    """,
    "what": """
        {it}|dafür|danach
        (meine|meinen|mein|die|den|das|meiner|meinem|nach meiner|nach meinem|nach der|nach dem
            |unsere|unseren) (?P<what>\\w+( \\w+){0,4}?)
    """,
    "human": """
        ({wish} )*{soon}mit {person} {human_verb}|({wish} )*{soon}mit {person}
        ({wish} )*{soon}(zu|an|mit) {person} (verbunden|weitergeleitet|durchgestellt)( werden)?
        (verbinden|verbinde|stellen|leiten)( sie)? mich {soon}(mit|zu|an) {person}( durch| weiter)?
        (geben|gib|holen|rufen)( sie)? (mir )?{soon}{person}
        (kann|könnte|darf|dürfte) ich {soon}(mit|zu) {person}( {human_verb})?
        ich (brauche|will|möchte|hätte gern|hätte gerne|wünsche) {soon}{person}
        (gibt es|ist) (hier |da )?{person}( da)?
        ({wish} )*{soon}(nicht|nicht mehr)? ?mit {robot}( nicht)?( mehr)? {human_verb}
    """,
    "soon": """
        ((bitte|jetzt|lieber|gerne|gern|endlich|nur|sofort) )*
    """,
    "robot": """
        (einem|einer|dem|der) (bot|roboter|maschine|computer|chatbot)
    """,
    "human_alone": """
        {person}|mensch|mitarbeiter|operator|kundenservice|kundendienst|kundenbetreuung|support
        berater|sachbearbeiter
    """,
    "human_verb": """
        sprechen|reden|verbunden werden|verbinden|chatten|telefonieren|durchgestellt werden
        schreiben|kommunizieren
    """,
    "person": """
        {a_person}( (echten|echter|echte|echtem|echtes|richtigen|richtiger|richtige|menschlichen
            |menschlicher|wirklichen|anderen|andere))* {staff}
        jemandem|jemand echtem|jemand anderem|jemand anders
    """,
    "a_person": """
        einem|einer|einen|eine|ein|dem|der|den|ihrem|ihrer|ihren
    """,
    "staff": """
        menschen|mensch|person|mitarbeiter|mitarbeiterin|berater|beraterin|agenten|agent|kollegen
        kollegin|vorgesetzten|chef|kundenservice|kundendienst|kundenbetreuer|sachbearbeiter
        operator|support|ansprechpartner
    """,
}
