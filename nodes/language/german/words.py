"""Words of one use in German."""

WORDS = {
    "articles": "der die das den dem am",
    "joints": "und aber auch also dann so",
    "closing": """
        daraus
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
    "polite": "bitte",
    "no_what": "",
    "either": "oder entweder",
    "negation": "außer nicht kein keine keinen nie ohne",
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
        uhr herr frau heiße schön nett
        besser lieber auf den namen
    """,
    "people_for": "für zu",
    "bring_in": "name namen heiße heißt herr frau dr in adresse anschrift",
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
