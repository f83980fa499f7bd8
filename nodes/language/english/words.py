"""Words of one use in English."""

WORDS = {
    "articles": "the",
    "joints": "and but also so then well",
    "no": "no nope nah",
    "closing": """
        please pls plz thanks thx then now again ok okay instead actually though sorry lol haha
        right
    """,
    "follows": """
        i im ive id we it its that thats this the there and but also not please thanks dont she he
        they make my you your sorry actually leave let lets forget for to what how when where why
        is are can could do does
    """,
    "small": """
        a an the my our your his her their its this that these those of for to in on at by from
        with and or i we you it is was be are as me us about please all one
    """,
    "own": "my his her our their your",
    "polite": "please pls plz",
    "no_what": "one body way idea problem worries matter money time clue doubt need chance more",
    "either": "or either",
    "negation": "skip except avoid not no never dont didnt isnt wasnt wont cant nor without",
    "around": """
        a an the we are us of there will be is it its this that i im id ill like would want need
        to for about around just only maybe roughly exactly approximately at on in by from until
        till please make have has had take and so then total altogether party people book table
        booking me my our you can could lets let go with say old years year hello hi hey good
        morning evening send pay transfer come coming arrive arriving give get reserve reservation
        appointment day time yes yeah ok okay sure well oh um hm actually thanks thank sorry think
        guess perhaps probably name reach call or any also date number amount some prefer works
        best ideally lovely nice better
        perfect great wonderful fine great
    """,
    "people_for": "for",
    "until": "to until till through",
    "contrast": "not isnt wasnt didnt meant mean instead wrong incorrect rather",
    "units": """
        people persons person guests nights night days day weeks week months month years euros
        euro dollars pounds percent kg km children kids bags rooms tickets cats dogs times hours
        minutes gb th
    """,
    "bring_in": "name named called call me mr mrs ms miss dr in at address to",
    "persons": "people persons guests party",
    "pay": "send pay transfer wire amount of sum owe spend deposit withdraw top",
    "talk": """
        i you we they he she my your his her is are was were am want need have has had how what
        why when where who which do does did can could would should not me it this that please
        help about if because there transfer cancel
    """,
    "lead_name": "is name im am its this call me i my the called",
    "time_units": """
        people persons guests nights days weeks months years euros dollars pounds percent kg of
    """,
}
