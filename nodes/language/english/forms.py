"""How something said before is corrected in English."""

FORMS = {
    "lead": """
        hang on|one moment
        oh|sorry|wait|hold on|actually|no|nope|hm|hmm|um|uh|oops|ah|well|hey|my mistake|my bad
        correction|ok|okay|so|and|pardon|excuse me|yes|yeah|please|rather|scratch that
        i made a mistake|thats wrong|i misspoke|then|fine|sure|great|alright|now
    """,
    "meant": """
        (i|what i) (really )?(meant|mean|intended|wanted|was thinking of)( to say| was| is)?
        meant( to say)?|i said
        it (should be|should have been|must be|needs to be|has to be|was supposed to be)
        that (should be|should have been|must be|needs to be|has to be)
        (please )?(make|change|set|turn|switch|move|correct|update) (it|that|this)( to| into)?
        rather|better|instead|lets (do|make it|say|take)
    """,
    "form_contrast": """
        (?P<new>.+?) (?:, )?(?:(?:and|but) )?not (?P<old>(?!that )[^,]+)(?: ,.*)?
        (?:(?:its|it is|it was|it wasnt|it isnt|that was|that is|thats) )?not (?P<old>[^,]+?) ?(?:
            , )(?:(?:but|rather|its|it is|it was|i meant) )?(?P<new>.+)
        (?:(?:its|it is|it was|that was|that is|thats) )?not (?P<old>.+?) (?:but
            |rather) (?P<new>.+)
        (?:it wasnt|it isnt|that wasnt|that isnt|i didnt mean|i dont mean
            |i did not mean) (?P<old>.+?) ?, (?:(?:but|rather|it was|its|i meant
            |it is) )*(?P<new>.+)
        (?P<new>.+?) (?:instead of|rather than|in place of) (?P<old>.+)
        (?:change|correct|switch|turn|update) (?P<old>[^,]+?) (?:to|into|with) (?P<new>[^,]+)
        (?:replace) (?P<old>.+?) (?:with|by) (?P<new>.+)
    """,
    "form_named": """
        ({wish} )*(?:change|set|update|correct|move|switch|make|put|adjust|amend
            |turn|edit|fix) (?P<what>[^,]+?) (?:to be|to|into|as|=) (?P<new>.+)
        (?:the|my|our|his|her|their) (?P<what>[^,]+?) (?:should be|should have been|must be
            |needs to be|has to be|ought to be|is actually|was actually|is now|is in fact
            |is really|changed to|has changed to|is|was|are) (?!wrong|not|incorrect|false
            |off)(?P<new>.+?)(?: actually| instead| now)?
        (?:the|my|our|his|her|their) (?:correct|right|new|actual|real) (?P<what>[^,]+?) (?:is|was
            |are) (?P<new>.+)
        (?:make|have) (?:the|my|our) (?P<what>[^,]+?) (?P<new>[^ ,]+)
    """,
    "form_carried": """
        (?:(?:and|but|also) )*(?:the|my|our|his|her|their) (?P<what>[^,]+?) (?:to be|to|into
            |as) (?P<new>.+)
    """,
    "form_labelled": """
        (?:(?:the|my|our) )?(?P<what>[^,]+?) , (?P<new>.+)
    """,
    "form_clear": """
        ({wish} )*(?:change|correct|edit|update|fix|redo
            |re enter|reenter|adjust|amend|modify|remove|delete|clear|reset) (?:the|my|our|that
            |this|his|her|their) (?P<what>[^,]+?)(?: again| instead)?
        (?:the|my|our|that|this|his|her|their) (?P<what>[^,]+?) (?:is|was|are|looks
            |seems)(?: still| all| just)? ?(?:wrong|not right|not correct|incorrect|false|off
            |mistaken|not true|outdated|misspelled|mistyped)
        (?:the|my|our|that|this|his|her|their) (?P<what>[^,]+?) (?:isnt|wasnt|arent
            |doesnt look) (?:right|correct|true|accurate)
        (?:(?:thats|that is|its|this is|you have|you got|i gave you) )?(?:(?:the|a|an) )?(?:wrong
            |incorrect|false) (?P<what>[^,]+)
        (?:i got|i have|you got|you have|i gave) (?:the|my) (?P<what>[^,]+) wrong
        not (?:that|this|the) (?P<what>[^,]+)
        (?:thats|that is|this is|its|that isnt|it isnt) (?:not )?(?:my|the|our|his
            |her) (?P<what>[^,]+)
    """,
    "form_said": """
        (?:.+ )?(?:is|was|were|are|be|meant|mean|to) (?P<new>.+)
    """,
    "form_denied": """
        (?:i|we) (?:didnt|did not|dont|do not|never) (?:mean|say|said|meant|want) (?P<old>[^,]+)
        (?:its|it is|thats|that is|it was|this is|it isnt|it wasnt|im) not (?P<old>[^,]+)
        not (?P<old>[^,]+)
    """,
    "we_are": """
        we are|we will be|were|well be|there (are|will be)|therell be|theres
    """,
    "form_subject": """
        (?:.*, )?(?:(?:and|but|so|oh|well|because|when|as) )*(?:my|his|her|our|your|their|the|a
            |an) (?P<subject>[^ ,]+(?: [^ ,]+)??) (?:is|was|are|were|has|had|will|turns|turned|got
            |gets|lives|starts|ends|weighs|costs|cost|s)\\b
        (?:(?:and|but|so|oh|well) )*(?P<subject>i|he|she|they|we|you) (?:saw|met|heard|lost|ate
            |watched|read|won|said|told|missed|broke|called|bought|sold|forgot|hate
            |was (there|here)|went|came)\\b
    """,
    "form_named_other": """
        (?:(?:and|but|so|oh|well) )*(?:my|our|the) (?!name|names)[^ ,]+s name (?:is|s)\\b
        (?:(?:and|but|so|oh|well) )*(?:his|her|their) name (?:is|s)\\b
        (?:(?:and|but|so|oh|well) )*(?:my|our) [^ ,]+ (?:is|s) (?:called|named)\\b
    """,
    "wonder": """
        why|whats|what(?! about)|hows|how(?! about)|when|whens|where|wheres|who|whos|whom|which
        whose|does|do (you|i|we|they)|is there|are there|are you|are we|did (you|i|we)|have you
        am i|can you|could you|will you|would you
    """,
    "name_lead": """
        (oh )?(my|the|his|her)( (first|last|full|family))? name (is|s)|(my|the) names|name|its
        it is|im|i am|call me|this is|that is|thats|you can call me
        (my|the|our)( \\w+)? (address|recipient|street) is|i live (at|in)|we live (at|in)|please
        (send|deliver|bring) it to
    """,
}
