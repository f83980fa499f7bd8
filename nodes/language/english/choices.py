"""How one of several things is taken in English."""

CHOICES = {
    "choice_lead": """
        i (want|need|would like|choose|pick|take|prefer|meant|mean|said|go for|think|guess)
        id (like|prefer|take|go for|choose|pick)|ill (take|have|go with|go for|choose|pick)
        lets (take|go with|do|go for)|give me|take|choose|pick|option|number|its|it is|thats
        that is|make it|go with|select|yes|no|ok|okay|sure
    """,
    "ordinal": """
        ((the|option|number|no|num|nr|choice|answer) )*(?P<place>\\w+)( (one|option|choice|of them
            |of these|of those|item|answer|possibility|entry))?
    """,
    "negated": """
        (no )?(not|anything but|everything but|all but|any but|definitely not|i dont (want|mean)
            |i didnt mean|i do not (want|mean)|except|without) (?P<named>.+)
    """,
    "neither": """
        none( of (them|these|those|that|the above|it))?|neither( of (them|these|those|the two))?
        nothing of (that|the sort)|not (any|one) of (them|these|those)|no(ne)?( thanks)?
        something else|nope|nah
    """,
    "meaning_go_on": """
        ({wish} )*(go on|continue|keep going|resume
            |carry on|proceed)( with)?( {it}| the old one| where (we|i) (were|was|left off
            |stopped))?
        the old one|go on with it|finish {it}
    """,
    "meaning_anew": """
        ({wish} )*(begin|start|restart|do it
            |do {it})( all)?( it)?( (anew|again|over|fresh|afresh|new|from scratch|from the (
            beginning|start)))( again)?
        restart|a new one|new one|new|fresh start|start over|from scratch|begin anew|another one
    """,
    "meaning_change": """
        (yes )?({wish} )*(change|modify|update|alter
            |adjust) ({it}|the booking|my booking)
        change|(yes )?change it
    """,
    "meaning_person": """
        ({wish} )*(speak|talk) to ((a|an) )?(person
            |human|someone|agent)
        a person|person|human
    """,
    "meaning_leave": """
        (no )?(leave|keep) {it}( (as it is|as is|as it was|like that|alone|be|unchanged))?
        (no )?(leave|keep) (it|everything)|as it is|no change|nothing|(no )?thats fine
        (no )?never ?mind|forget it
    """,
}
