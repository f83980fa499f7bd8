"""How one speaks of the talk itself in German: stop, again, why, a person."""

SIGNALS = {
    "cancel": """
        ((ich (möcht|wil|würde ger|würde gern|wollte)|(könne|könnten) (si|wir)|kannst du
            |lass uns) )?{it}? ?(stopp|stop|stoppen|abbrechen|abbruch|aufhören|beenden|stornieren
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
        (bitte )?(vergiss|vergessen sie|vergessen wir|stoppen sie|brechen sie|brich|beende
            |beenden sie|storniere|lass|lassen wir)( bitte)? (alles|das alles|den ganzen kram)( ab
            | sein)?
        alles (abbrechen|vergessen|stoppen|beenden|stornieren|löschen|verwerfen)
        (ich (möchte|will) )?alles abbrechen
    """,
    "task": """
        ((ich (möcht|wil|würde ger|würde gerne)|(könne|könnten) sie|kannst du|lass uns) )?(den|die
            |das|meine|meinen|mein|diese|diesen) (?P<task>.+) (abbrechen|stoppen|beenden
            |stornieren|vergessen|verwerfen)
        (vergiss|vergessen sie|stoppen sie|beende|beenden sie|storniere|stornieren sie) (den|die
            |das|meine|meinen|mein|diese|diesen) (?P<task>.+)
        (brich|brechen sie|breche) (den|die|das|meine|meinen|mein|diese|diesen) (?P<task>.+) ab
    """,
    "any_task": """
        ((ganze|ganzen|aktuelle|aktuellen) )?(vorgang|aufgabe|prozess|formular|sache|gespräch
            |anfrage|ganze)
    """,
    "repeat": """
        (((könne|könnten) sie|kannst du|könntest du) )?((das|die frage|die letzte frage|es) )?(
            bitte )?(noch ?mal|noch einmal|wiederholen|erneut)( (bitte|sagen|wiederholen|fragen
            |stellen))*
        (wiederhole|wiederholen sie|wiederhol)( {it}| die frage)?
        (sag|sagen sie)( mir)?( {it})?( bitte)? (noch ?mal|noch einmal)|wie bitte
        wie war (das|die frage)( noch ?mal| gleich)?|was haben sie( gerade)? (gesagt|gefragt)
        was hast du( gerade)? (gesagt|gefragt)|was|hä|bitte was
        (das )?(habe|hab) ich nicht (verstanden|mitbekommen|gehört)
        ich habe? (das|es|die frage)? ?nicht (verstanden|mitbekommen|gehört)|was sagten sie
        was war die frage
    """,
    "wait": """
        {bit_lead}?( )?(einen|ein|ne|eine|nen|zwei|paar|ein paar)? ?(kleinen )?(moment|augenblick
            |sekunde|minute|sekunden|minuten|momentchen|sek|min)( bitte| mal| geduld)?
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
        (ich )?(möchte|will|werde|sage|verrate)( ich)?( {it})? ?((ihnen|dir) )?((lieber|gerne
            |gern) )?nicht( so gern)? ?(sagen|verraten|angeben|beantworten|preisgeben|mitteilen)?
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
        {want_human}mit {person} {human_verb}
        {want_human}(zu|an) {person} (verbunden|weitergeleitet|durchgestellt)( werden)?
        (verbinden|verbinde|stellen|leiten) (sie )?mich( bitte| jetzt)? (mit|zu
            |an) {person}( durch| weiter)?
        (geben|gib|holen|rufen)( sie)? (mir )?(bitte )?{person}
        (kann|könnte|darf|dürfte) ich( bitte)? (mit|zu) {person}( {human_verb})?
        {want_human}{person}|(gibt es|ist) ((hier|da) )?{person}( da)?
        {want_human}(nicht|nicht mehr)? ?mit (einem|einer|dem|der)? ?(bot|roboter|maschine
            |computer)( nicht)?( mehr)? {human_verb}
    """,
    "human_alone": """
        {person}|mensch|mitarbeiter|operator|kundenservice|kundendienst|kundenbetreuung|support
        berater|sachbearbeiter
    """,
    "want_human": """
        (ich (möchte|will|würde gern|würde gerne|würde lieber|muss|brauche|hätte gern|hätte gerne
            |wünsche)|wir (möchten|wollen)|lassen sie mich|lass mich)( bitte| jetzt| lieber| gerne
            | gern| endlich| nur)*
    """,
    "human_verb": """
        (sprechen|reden|verbunden werden|verbinden|chatten|telefonieren|durchgestellt werden
            |schreiben|kommunizieren)
    """,
    "person": """
        (einem|einer|einen|eine|ein|dem|der|den|ihrem|ihrer|ihren|jemand|jemandem|jemanden)( (
            echten|echter|echte|echtem|echtes|richtigen|richtiger|richtige|menschlichen
            |menschlicher|wirklichen|anderen|andere))* (menschen|mensch|person|mitarbeiter
            |mitarbeiterin|berater|beraterin|agenten|agent|kollegen|kollegin|vorgesetzten|chef
            |kundenservice|kundendienst|kundenbetreuer|sachbearbeiter|operator|support
            |ansprechpartner)
        jemandem|jemand echtem|jemand anderem|jemand anders
    """,
}
