"""How yes, no and questions are said in English."""

ANSWERS = {
    "filler": """
        please|pls|plz|thanks|thank you|thankyou|thx|ty|cheers|sorry|excuse me|oh|ah|um|uh|uhm
        er|erm|hm|hmm|well|so|then|now
        hi|hello|hey|just|really|actually|i think|i guess|i suppose|i believe|i mean|you know
        kindly|my friend|sir|maam|mate|dear|lol|haha|ha
        very much|so much|a lot|in fact|to be honest|tbh|for now|there|again
    """,
    "it": """
        it|this|that|them|this one|that one|this thing|the whole thing
    """,
    "good": """
        right|correct|true|fine|good|ok|okay|perfect|great|alright|all right|accurate
        exactly right|spot on
    """,
    "yes": """
        yes it is|yes that is
        y|yes|yea|yeah|yep|yup|ya|yah|aye|uh huh|mhm|mm hm|yess|yeh|ye|si|oui
        okay|okey|okie|okie dokie|okey dokey|ok|k|kk|alright|all right|fine|fine by me
        fine with me
        for sure|sure thing|sure|certainly|absolutely|definitely|indeed|exactly|precisely|gladly
        naturally|affirmative|agreed|deal|you bet|totally
        of course|by all means|why not|no problem|no worries|no objections?|not a problem
        i dont mind
        (that|this|it|everything|all of (it|that)|all)( is|s)?( all)? {good}( to me)?
        (thats|its|they are|theyre|all is|everythings)( all)? {good}|all {good}
        ((it|that|this|all) )?(sounds|looks|seems)( all)? {good}( to me)?|works for me
        thats me|that works|that will do|thatll do
        perfect|great|good|wonderful|excellent|correct|right|true|confirmed|confirm|confirm {it}
        approved|accurate|lovely|cool|awesome|brilliant|super
        go ahead( and {do} {it})?|go for it|proceed|continue|carry on|go on
        lets (do {it}|go|continue|go on|go back|proceed|go ahead|carry on|get back to it|resume)
        resume
        (please )?{do} {it}( now)?|do so|please do|make it so|you may|you can|back to {it}
        take me back|go back
        i (confirm|agree|accept|think so|guess so|suppose so|believe so)( {it}| to {it})?
        (id|i would) (like|love) (that|it)
        that would be (great|nice|good|lovely|perfect|fine|helpful|wonderful)
        thatd be (great|nice|good|lovely|perfect|fine|helpful)
        we (can|could|may|should)|yes we can|lets|with pleasure|happy to|ready
    """,
    "do": """
        do|send|book|submit|confirm|order|pay|save|file|schedule|reserve
    """,
    "no": """
        no im not|no it (isnt|is not)|no its not|no thats not( it| {good})?
        no (thank you|thanks|thx|ty|need|way|need to|sir|maam|never)
        no leave {it}( be| alone| as it is)?|no dont( {do} {it})?
        n|no|nope|nah|naw|nay|never|negative|not now|not really|not yet|not today|not anymore
        not any more|not right now|not this time|not necessary|not needed|not at all|not for me
        absolutely not|certainly not|definitely not|of course not|please dont|dont bother|dont
        do not|dont {do} {it}|do not {do} {it}|id rather not|rather not|i would rather not
        i refuse
        (thats|that is|this is|its|it is) not( quite)? {good}|not( quite)? {good}
        (that|this|it) (isnt|aint)( quite)? ({good}|it)
        (thats|that is|this is|its|it is) (wrong|incorrect|false)|wrong|incorrect|false
        (leave|keep) {it}( (as it is|as is|as it was|like that|alone|be|unchanged|for now))?
        let it be|let {it} go|lets leave {it}|lets not|keep the old (one|value)
        (maybe )?later|(maybe )?(another|some other) time|not (just )?now
        i (dont|do not) (want|need)( to)?( {it}| {do} {it})?|i (dont|do not)( think so)?|im not
        i (wouldnt|wont|cant)
    """,
    "unsure": """
        maybe|perhaps|well|hm+|i dont know|not sure|im not sure|possibly
    """,
    "yes_alone": """
        (yes )?(i|we) (do|am|are|would|did|have|can|will|want to|want {it}|need {it})( {it}| to)?
        (yes )?(id|i would) (like|love) to|please( do)?
    """,
    "no_alone": """
        (no )?(i|we) (dont|do not|am not|are not|wouldnt|would not|didnt|did not|havent|cant|wont)
            ( think so| want {it}| want to| need {it}| need to)?
    """,
    "enough": """
        (no )?(thats|that is|that will be|thatll be|this is) (all|it|everything|enough)
        (no )?nothing( else| more)?|(no )?none|nothing at all
        (no )?(im|i am|were|we are) (good|fine|ok|okay|done|all set|all done|alright)|all set
        all done|done|(no )?thats (fine|ok|okay|good|alright)
        (no )?(bye|goodbye|see you|bye bye)|have a (nice|good|great) (day|one|evening)
    """,
    "decline": """
        (no )?(lets|let us|let me|ill|i want to|id like to|we can|i can|i will) (just )?(try
            |try it|go|do it|do this)( once)? (again|once more|one more time|on|another time)
        (no )?(ill|i will|id rather|let me|lets|i can|i would rather) (wait|keep trying
            |continue with you|go on with you|stay here|do it myself|manage)
        try again
    """,
    "thats_all": """
        (thats|that is|this is) (all|it|everything)|nothing( else)?( to change)?
        (no|without) changes?( needed| necessary| please)?|nothing needs to change
    """,
    "reason": """
        (i|we|ive|weve|i have|she|he|they)( have| has|ve)? (already|changed|decided|found|done
            |paid|sent|did|just|no longer|dont|do not|cant|cannot|wont|didnt)( .*)?
        (it|thats|that|its|thats been|it has|that has|it is|that is)( is| has| was)?( been)? (too
            |already|done|no longer|not|fine|sorted|settled|resolved|paid|expensive|taken)( .*)?
        (im|i am|were) (not|no longer|done|finished|good|fine|in a hurry|busy|too)( .*)?
        too (expensive|late|early|much|long|far)( .*)?|because( .*)?
        (ill|i will) (do|call|come|think|ask|check)( .*)?
    """,
    "but": """
        but|except|only|however|although|though|provided|as long as|apart from|just not|not
    """,
    "condition": """
        if|unless|when|after|before|once|until
    """,
    "joint": """
        and|but|also
    """,
    "asking": """
        why|whats|what(?! about)|hows|how(?! about)|who|whos|whom|which|whose|when|where
    """,
    "question": """
        why|what|whats|how|hows|when|whens|where|wheres|who|whos|whom|which|whose|does|do you
        do i|do we|is it|is there|is that|is this|are there|are you|are we|did you|have you|am i
        will it|will you|would it|would you|can you|could you|can i|could i|may i|should i|has
        was it
    """,
}
