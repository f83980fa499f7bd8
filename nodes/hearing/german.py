"""How German is spoken to an assistant."""

from __future__ import annotations

from nodes.hearing.lexicon import Sayings

_ANSWERS = {
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
        nein (danke|bitte nicht|lieber nicht|das (ist|stimmt) nicht( {good})?|lass {it}( so)?|lassen sie {it}( so)?|noch nicht|auf keinen fall)
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
        (nein )?(wir|lass uns|ich|lassen sie uns|dann)( versuche| versuchen| probieren| probiere| machen| mache)?( wir)?( es| das)? (noch ?mal|noch einmal|erneut|weiter|selbst|selber|lieber warten|warte)( versuchen| probieren| machen)?
        (nein )?ich warte( lieber)?
    """,
    "thats_all": """
        das (ist|war) (alles|es)|(sonst )?nichts( mehr| weiter)?
    """,
    "reason": """
        (ich|wir|sie|er)( habe| hab| haben| hat| bin| sind| kann| will| möchte| brauche| muss)( .*)?
        habe? ich( .*)?|hat sich( .*)?|(das|es) (ist|hat|war|wurde|dauert|wird)( .*)?
        zu (teuer|spät|früh|lang|weit)( .*)?|weil( .*)?|keine zeit( .*)?
        schon (erledigt|bezahlt|gemacht)( .*)?
    """,
    "but": """
        aber|außer|nur|wenn|falls|sofern|solange|jedoch|sondern|bis auf|nicht|erst|nachdem|bevor
    """,
    "joint": """
        und|aber|auch
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
_SIGNALS = {
    "cancel": """
        (ich (möchte|will|würde gern|würde gerne|wollte) |(können|könnten) (sie|wir) |kannst du |lass uns )?{it}? ?(stopp|stop|stoppen|abbrechen|abbruch|aufhören|beenden|stornieren|anhalten|halt)( {it})?( jetzt| hier)?
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
        (bitte )?(vergiss|vergessen sie|vergessen wir|stoppen sie|brechen sie|brich|beende|beenden sie|storniere|lass|lassen wir)( bitte)? (alles|das alles|den ganzen kram)( ab| sein)?
        alles (abbrechen|vergessen|stoppen|beenden|stornieren|löschen|verwerfen)
        (ich (möchte|will) )?alles abbrechen
    """,
    "task": """
        (ich (möchte|will|würde gern|würde gerne) |(können|könnten) sie |kannst du |lass uns )?(den|die|das|meine|meinen|mein|diese|diesen) (?P<task>.+) (abbrechen|stoppen|beenden|stornieren|vergessen|verwerfen)
        (vergiss|vergessen sie|stoppen sie|beende|beenden sie|storniere|stornieren sie) (den|die|das|meine|meinen|mein|diese|diesen) (?P<task>.+)
        (brich|brechen sie|breche) (den|die|das|meine|meinen|mein|diese|diesen) (?P<task>.+) ab
    """,
    "any_task": """
        (ganze |ganzen |aktuelle |aktuellen )?(vorgang|aufgabe|prozess|formular|sache|gespräch|anfrage|ganze)
    """,
    "repeat": """
        ((können|könnten) sie |kannst du |könntest du )?(das |die frage |die letzte frage |es )?(bitte )?(noch ?mal|noch einmal|wiederholen|erneut)( (bitte|sagen|wiederholen|fragen|stellen))*
        (wiederhole|wiederholen sie|wiederhol)( {it}| die frage)?
        (sag|sagen sie)( mir)?( {it})?( bitte)? (noch ?mal|noch einmal)|wie bitte
        wie war (das|die frage)( noch ?mal| gleich)?|was haben sie( gerade)? (gesagt|gefragt)
        was hast du( gerade)? (gesagt|gefragt)|was|hä|bitte was
        (das )?(habe|hab) ich nicht (verstanden|mitbekommen|gehört)
        ich habe? (das|es|die frage)? ?nicht (verstanden|mitbekommen|gehört)|was sagten sie
        was war die frage
    """,
    "wait": """
        {bit_lead}?( )?(einen|ein|ne|eine|nen|zwei|paar|ein paar)? ?(kleinen )?(moment|augenblick|sekunde|minute|sekunden|minuten|momentchen|sek|min)( bitte| mal| geduld)?
        warte|warten sie|wart mal|warte mal|moment mal|sekunde mal
        bin gleich (da|zurück|wieder da)|gleich
        ich (suche|schaue|gucke|hole|muss) (mal |kurz |eben |gerade |nur )*({it} )?(nach|nachsehen|nachschauen|schauen|suchen|holen|raus|gucken)?
        lass mich( kurz| mal)? (überlegen|nachdenken|nachsehen|nachschauen|schauen|suchen)
        lassen sie mich( kurz| mal)? (überlegen|nachdenken|nachsehen|nachschauen|schauen|suchen)
        ich brauche (noch )?(etwas )?zeit
    """,
    "bit_lead": """
        (geben sie mir|gib mir|warten sie|warte|ich brauche|nur|noch|bitte|kleinen|gedulden sie sich)( bitte| noch| mal| nur)?
    """,
    "busy": """
        (ich|muss|ich muss|da muss ich|ich hole|ich suche)( .*)? (suchen|holen|nachsehen|nachschauen|schauen|überlegen|nachdenken|finden|fragen|telefonieren|nach|raus)
        ich (suche|hole|schaue|überlege|muss)( .*)?|es klingelt( .*)?
    """,
    "skip": """
        (ich möchte |können wir |kann ich |will ich |ich will |wir )?({it} |diese frage |die frage )?(überspringen|auslassen|weglassen|überspring|überspringe|überspringen wir|überspringen sie)( {it}| die frage)?
        nächste( frage)?|weiter zur nächsten( frage)?|ohne( {it})?
        (ich )?(möchte|will|werde|sage|verrate)( ich)?( {it})? ?(ihnen |dir )?(lieber |gerne |gern )?nicht( so gern)? ?(sagen|verraten|angeben|beantworten|preisgeben|mitteilen)?
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
        keine ahnung|(das )?weiß (ich )?(das |es )?(gerade |leider |noch )?nicht( mehr| genau)?
        ich weiß (das |es )?(gerade |leider |noch )?nicht( mehr| genau)?
        (das )?weiß ich (gerade |leider |noch )?nicht( mehr| genau)?
        ich (bin|bin mir) (nicht|unsicher)( sicher)?|nicht sicher|unsicher
        (das )?(habe|hab) ich vergessen|ich (habe|hab) es vergessen|kein plan|null ahnung
        woher soll ich das wissen|ich erinnere mich nicht( mehr)?
    """,
    "nothing": """
        nein|nö|nee|nichts|nein danke|keine|keins|keinen|kein|nichts (besonderes|weiter|mehr)
        nicht wirklich|nix
    """,
    "explain": """
        (und |aber )?(warum|wieso|weshalb|wozu|wofür)( denn| das| eigentlich| das denn)?
        (warum|wieso|weshalb|wozu|wofür) (brauchen|wollen|benötigen|fragen|müssen|möchten) (sie|wir)( {what})?( wissen)?
        (warum|wieso|weshalb|wozu|wofür) (brauchst|willst|benötigst|fragst|musst) du( {what})?( wissen)?
        (warum|wieso|wozu|wofür) (ist|wird) {it}( denn)? (nötig|notwendig|wichtig|gebraucht|benötigt|erforderlich)
        (wozu|wofür) (ist|soll|brauchts|dient) {it}( gut| sein| denn)*
        ist {it} (wirklich |unbedingt )?(nötig|notwendig|erforderlich|pflicht)
        muss ich {it}( wirklich)? (sagen|angeben|beantworten)|muss {it}( wirklich)? sein
        was (bedeutet|heißt|meinen sie mit|meinst du mit|passiert mit|machen sie mit) {it}
        was (meinen sie|meinst du)( damit)?|was soll {it}
    """,
    "what": """
        {it}|dafür|danach
        (meine|meinen|mein|die|den|das|meiner|meinem|nach meiner|nach meinem|nach der|nach dem|unsere|unseren) (?P<what>\\w+( \\w+){0,4}?)
    """,
    "human": """
        {want_human}mit {person} {human_verb}
        {want_human}(zu|an) {person} (verbunden|weitergeleitet|durchgestellt)( werden)?
        (verbinden|verbinde|stellen|leiten) (sie )?mich( bitte| jetzt)? (mit|zu|an) {person}( durch| weiter)?
        (geben|gib|holen|rufen)( sie)? (mir )?(bitte )?{person}
        (kann|könnte|darf|dürfte) ich( bitte)? (mit|zu) {person}( {human_verb})?
        {want_human}{person}|(gibt es|ist) (hier |da )?{person}( da)?
        {want_human}(nicht|nicht mehr)? ?mit (einem|einer|dem|der)? ?(bot|roboter|maschine|computer)( nicht)?( mehr)? {human_verb}
    """,
    "human_alone": """
        {person}|mensch|mitarbeiter|operator|kundenservice|kundendienst|kundenbetreuung|support
        berater|sachbearbeiter
    """,
    "want_human": """
        (ich (möchte|will|würde gern|würde gerne|würde lieber|muss|brauche|hätte gern|hätte gerne|wünsche)|wir (möchten|wollen)|lassen sie mich|lass mich)( bitte| jetzt| lieber| gerne| gern| endlich| nur)*
    """,
    "human_verb": """
        (sprechen|reden|verbunden werden|verbinden|chatten|telefonieren|durchgestellt werden|schreiben|kommunizieren)
    """,
    "person": """
        (einem|einer|einen|eine|ein|dem|der|den|ihrem|ihrer|ihren|jemand|jemandem|jemanden)( (echten|echter|echte|echtem|echtes|richtigen|richtiger|richtige|menschlichen|menschlicher|wirklichen|anderen|andere))* (menschen|mensch|person|mitarbeiter|mitarbeiterin|berater|beraterin|agenten|agent|kollegen|kollegin|vorgesetzten|chef|kundenservice|kundendienst|kundenbetreuer|sachbearbeiter|operator|support|ansprechpartner)
        jemandem|jemand echtem|jemand anderem|jemand anders
    """,
}
_CHOICES = {
    "choice_lead": """
        ich (möchte|will|nehme|wähle|meine|meinte|hätte gern|hätte gerne|bevorzuge|glaube)
        nehmen wir|option|nummer|nr|lieber|bitte|es ist|das ist|ja|nein|ok|wir nehmen|mach
    """,
    "ordinal": """
        (der |die |das |den |dem |option |nummer |nr |variante |antwort |möglichkeit )*(?P<place>\\w+)( (option|variante|antwort|möglichkeit|davon|von beiden|punkt))?
    """,
    "negated": """
        (nein )?(nicht|alles außer|alles andere als|auf keinen fall|bloß nicht|ich (will|möchte|meine|meinte) nicht) (?P<named>.+)
    """,
    "neither": """
        (keins?|keine|keiner|keines|keinen)( (davon|von beiden|von denen|der beiden|von allen))?
        weder noch|nichts davon|etwas anderes|was anderes|nein( danke)?
    """,
    "meaning_go_on": """
        (ich (möchte|will) |lass uns |wir )?(damit )?(weitermachen|fortfahren|fortsetzen|weiter|machen wir weiter|damit weitermachen|weiter damit)( damit)?
        die alte|den alten|das alte|mit dem alten|dort weitermachen wo wir waren
    """,
    "meaning_anew": """
        (ich (möchte|will) |lass uns |wir )?(ganz )?(neu|von vorne|von vorn|noch ?mal von vorne|von neuem)( (anfangen|beginnen|starten))?
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
        (nein )?(so )?(lassen|belassen|lass {it}|lassen sie {it}|lassen wir {it}|lass es)( so| dabei)?( wie es ist)?
        so lassen( wie es ist)?|nichts|nicht ändern|(nein )?schon gut|so lassen wie es ist
    """,
}
_FORMS = {
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
        (?P<new>.+?) (?:, )?(?:und |aber )?nicht (?P<old>[^,]+)(?: ,.*)?
        (?:es ist |es war |das ist |das war |ich meinte )?nicht (?P<old>.+?) ?(?:, )?(?:sondern|vielmehr) (?P<new>.+)
        (?:es ist |es war |das ist |das war )?nicht (?P<old>[^,]+?) ?, (?P<new>.+)
        (?P<new>.+?) (?:statt|anstatt|anstelle von) (?P<old>.+)
        statt (?P<old>[^,]+?) (?:, |lieber )+(?P<new>.+)
    """,
    "form_named": """
        (?:(?:bitte|ich möchte|ich will|können sie|könnten sie|kannst du|ich muss) )*(?:ändere|ändern|ändern sie|setze|setzen|setzen sie|korrigiere|korrigieren|korrigieren sie|stelle|stellen sie|verschiebe|verschieben|verschieben sie|verlege|verlegen sie)(?: bitte)? (?:den|die|das|meine|meinen|mein|unsere|unseren) (?P<what>[^,]+?) (?:auf|in|zu|nach) (?P<new>.+?)(?: ändern| setzen| verschieben| korrigieren)?
        (?:(?:bitte|ich möchte|ich will|können sie|könnten sie|kannst du|ich muss) )*(?:den|die|das|meine|meinen|mein|unsere|unseren) (?P<what>[^,]+?) (?:auf|in|zu|nach) (?P<new>.+?) (?:ändern|setzen|verschieben|korrigieren|verlegen)
        (?:der|die|das|mein|meine|unser|unsere) (?P<what>[^,]+?) (?:soll|sollte|muss|müsste) (?P<new>.+?)(?: sein| lauten| heißen)
        (?:der|die|das|mein|meine|unser|unsere) (?:richtige|korrekte|neue) (?P<what>[^,]+?) (?:ist|lautet|war) (?P<new>.+)
        (?:der|die|das|mein|meine|unser|unsere) (?P<what>[^,]+?) (?:ist|war|lautet)(?: eigentlich| doch| jetzt)? (?!falsch|nicht|verkehrt)(?P<new>.+)
    """,
    "form_clear": """
        (?:(?:bitte|ich möchte|ich will|ich würde gern|ich würde gerne|kann ich|können sie|könnten sie|können wir|ich muss|darf ich) )*(?:den|die|das|meine|meinen|mein|unsere|unseren) (?P<what>[^,]+?) (?:noch ?mal )?(?:ändern|korrigieren|berichtigen|anpassen|löschen|aktualisieren|verbessern|neu eingeben)
        (?:ändere|ändern sie|korrigiere|korrigieren sie|lösche|löschen sie)(?: bitte)? (?:den|die|das|meine|meinen|mein|unsere|unseren) (?P<what>[^,]+?)
        (?:der|die|das|mein|meine|unser|unsere) (?P<what>[^,]+?) (?:ist|war|stimmt|passt|sind)(?: leider| so| noch)? (?:falsch|nicht|nicht richtig|nicht korrekt|verkehrt|nicht mehr richtig)
        (?:das ist |das war )?(?:der |die |das |ein |eine |einen )?(?:falsche|falscher|falsches|falschen|verkehrte|verkehrter) (?P<what>[^,]+)
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
    "form_subject": """
        (?:.*, )?(?:(?:und|aber|also|oh|weil) )*(?:mein|meine|sein|seine|ihr|ihre|unser|unsere|dein|deine|der|die|das|ein|eine) (?P<subject>[^ ,]+(?: [^ ,]+)??) (?:ist|war|sind|waren|hat|hatte|wird|wiegt|kostet|wohnt|beginnt|endet)\\b
        (?:(?:und|aber|also|oh) )*(?P<subject>ich|er|sie|wir|du) (?:sah|traf|hörte|verlor|aß|las|gewann|sagte|hasse|verpasste|kaufte|vergaß)\\b
    """,
}
_WORDS = {
    "joints": "und aber auch also dann so",
    "closing": """
        bitte danke dann jetzt nochmal noch mal doch stattdessen eigentlich sorry ok okay
    """,
    "follows": """
        ich wir es das der die den und aber auch nicht bitte danke sie er mach machen mein meine
        lass lassen für auf zu was wie wann wo warum ist kann kannst können sondern doch habe hab
    """,
    "small": """
        ein eine einen einem einer der die das den dem des mein meine meinen meinem meiner unser
        unsere unseren dein deine ihr ihre sein seine dies diese dieser von für zu in am an um bei
        mit und oder ich wir sie es ist war als bitte alle zur zum vom im auf nach
    """,
    "own": "mein meine meinen sein seine ihr ihre unser unsere dein deine",
    "negation": "nicht kein keine keinen nie ohne",
    "contrast": "nicht meinte meine sondern statt anstatt falsch lieber",
    "units": """
        personen person leute gäste nächte nacht tage tag wochen woche monate monat jahre euro
        euros prozent kg km kinder koffer zimmer karten katzen hunde mal stunden uhr minuten
    """,
    "around": """
        ein eine einen einem der die das den dem wir sind uns von es gibt wird ist dass ich bin
        möchte hätte würde gern gerne will brauche brauchen für etwa ungefähr circa ca rund nur
        genau am an um gegen bei von ab bis zum zur im in bitte mach machen haben habe hat und
        also dann insgesamt zusammen leute personen buchen tisch buche reservieren reservierung
        mein meine unser können kann lass mit alt jahre jahr hallo guten tag abend morgen
        überweise überweisen schick schicken sende senden zahlen zahle kommen komme ankommen ja ok
        okay gut oh ach hm danke glaube denke vielleicht wohl name oder auch datum nummer betrag
        uhr herr frau heiße auf den namen
    """,
    "people_for": "für zu",
    "persons": "personen leute gäste",
    "until": "bis",
    "pay": "überweise überweisen schicke schick schicken sende senden zahle zahlen betrag",
    "talk": """
        ich du wir sie er ihr mein meine dein ist sind war bin will möchte brauche habe haben hat
        wie was warum wann wo wer welche kann können könnte würde soll nicht mich mir es das bitte
        hilfe wenn weil gibt
    """,
    "no": "nein nee nö",
}

GERMAN = Sayings(
    phrases={**_ANSWERS, **_SIGNALS, **_CHOICES, **_FORMS},
    words=_WORDS,
    ordinals={
        **dict.fromkeys(("erste", "erster", "erstes", "ersten", "eins", "1te", "1"), 1),
        **dict.fromkeys(("zweite", "zweiter", "zweites", "zweiten", "zwei", "2te", "2"), 2),
        **dict.fromkeys(("dritte", "dritter", "drittes", "dritten", "drei", "3te", "3"), 3),
        **dict.fromkeys(("vierte", "vierter", "viertes", "vierten", "vier", "4"), 4),
        **dict.fromkeys(("fünfte", "fünfter", "fünftes", "fünften", "fünf", "5"), 5),
        **dict.fromkeys(("sechste", "sechster", "sechstes", "sechsten", "sechs", "6"), 6),
        **dict.fromkeys(("letzte", "letzter", "letztes", "letzten", "letzteres", "letztere"), -1),
        **dict.fromkeys(("ersteres", "erstere"), 1),
    },
    type_words={
        "integer": "anzahl zahl nummer",
        "number": "zahl",
        "money": "betrag summe preis",
        "date": "datum tag termin",
        "time": "uhrzeit zeit",
        "datetime": "termin datum zeitpunkt uhrzeit",
        "email": "email mail adresse mailadresse",
        "phone": "telefon telefonnummer nummer handynummer handy rufnummer",
        "name": "name namen",
        "address": "adresse anschrift straße",
    },
    leads={
        "time": "um gegen ab bis",
        "date": "am bis ab zum vom",
        "datetime": "am um zum",
    },
    concepts=(
        "personen person leute gäste gast plätze personenzahl personenanzahl gästezahl erwachsene uns tisch",
        "nächte nacht übernachtungen",
        "tage tag",
        "zimmer",
        "kinder kind",
        "jahre jahr alter alt",
        "koffer gepäck gepäckstücke taschen",
        "pakete paket päckchen sendungen",
        "kilo kg kilogramm gewicht wiegt",
        "monate monat laufzeit",
        "karten tickets",
        "gb gigabyte datenvolumen",
    ),
)
