"""How English is spoken to an assistant."""

from __future__ import annotations

from nodes.hearing.lexicon import Sayings

_ANSWERS = {
    "filler": """
        please|pls|plz|thanks|thank you|thankyou|thx|ty|cheers|sorry|excuse me|oh|ah|um|uh|uhm
        er|erm|hm|hmm|well|so|then|now
        hi|hello|hey|just|really|actually|i think|i guess|i suppose|i believe|i mean|you know
        kindly|my friend|mate|dear|lol|haha|ha
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
        yes i (do|am|would|did|have|can|will|agree|confirm|want to)|yes it is|yes that is
        yes we (do|are|would)
        y|yes|yea|yeah|yep|yup|ya|yah|aye|uh huh|mhm|mm hm|yess|yeh|ye|si|oui
        okay|okey|okie|okie dokie|okey dokey|ok|k|kk|alright|all right|fine|fine by me
        fine with me
        for sure|sure thing|sure|certainly|absolutely|definitely|indeed|exactly|precisely|gladly
        naturally|affirmative|agreed|deal|you bet|totally
        of course|by all means|why not|no problem|no worries|no objections?|not a problem
        i dont mind
        (that|this|it|everything|all of (it|that)|all)( is|s)?( all)? {good}( to me)?
        (thats|its|they are|theyre|all is|everythings)( all)? {good}|all {good}
        (it |that |this |all )?(sounds|looks|seems)( all)? {good}( to me)?|works for me
        that works|that will do|thatll do
        perfect|great|good|wonderful|excellent|correct|right|true|confirmed|confirm|confirm {it}
        approved|accurate|lovely|cool|awesome|brilliant|super
        go ahead( and {do} {it})?|go for it|proceed|continue|carry on|go on
        lets (do {it}|go|continue|go on|go back|proceed|go ahead|carry on|get back to it|resume)
        resume
        (please )?{do} {it}( now)?|do so|please do|make it so|you may|you can|back to {it}
        take me back|go back
        i (do|would|am|did|have|will|confirm|agree|accept|think so|guess so|suppose so|believe so|want to)( {it}| to {it})?
        (i )?(id|would) (like|love)( that| it)?( to)?
        that would be (great|nice|good|lovely|perfect|fine|helpful|wonderful)
        thatd be (great|nice|good|lovely|perfect|fine|helpful)
        we (can|could|may|should)|yes we can|lets|with pleasure|happy to|ready
    """,
    "do": """
        do|send|book|submit|confirm|order|pay|save|file|schedule|reserve
    """,
    "no": """
        no i (dont|do not|am not|wouldnt|would not|didnt|did not|havent|cant|wont)( think so| want {it}| want to| need {it}| need to)?
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
    "enough": """
        (no )?(thats|that is|that will be|thatll be|this is) (all|it|everything|enough)
        (no )?nothing( else| more)?|(no )?none|nothing at all
        (no )?(im|i am|were|we are) (good|fine|ok|okay|done|all set|all done|alright)|all set
        all done|done|(no )?thats (fine|ok|okay|good|alright)
        (no )?(bye|goodbye|see you|bye bye)|have a (nice|good|great) (day|one|evening)
    """,
    "decline": """
        (no )?(lets|let us|let me|ill|i want to|id like to|we can|i can|i will) (just )?(try|try it|go|do it|do this)( once)? (again|once more|one more time|on|another time)
        (no )?(ill|i will|id rather|let me|lets|i can|i would rather) (wait|keep trying|continue with you|go on with you|stay here|do it myself|manage)
        try again
    """,
    "thats_all": """
        (thats|that is|this is) (all|it|everything)|nothing( else)?( to change)?
    """,
    "reason": """
        (i|we|ive|weve|i have|she|he|they)( have| has|ve)? (already|changed|decided|found|done|paid|sent|did|just|no longer|dont|do not|cant|cannot|wont|didnt)( .*)?
        (it|thats|that|its|thats been|it has|that has|it is|that is)( is| has| was)?( been)? (too|already|done|no longer|not|fine|sorted|settled|resolved|paid|expensive|taken)( .*)?
        (im|i am|were) (not|no longer|done|finished|good|fine|in a hurry|busy|too)( .*)?
        too (expensive|late|early|much|long|far)( .*)?|because( .*)?
        (ill|i will) (do|call|come|think|ask|check)( .*)?
    """,
    "but": """
        but|except|unless|if|only|however|although|though|provided|as long as|apart from
        just not|when|after|before|not
    """,
    "joint": """
        and|but|also
    """,
    "question": """
        why|what|whats|how|hows|when|whens|where|wheres|who|whos|whom|which|whose|does|do you
        do i|do we|is it|is there|is that|is this|are there|are you|are we|did you|have you|am i
        will it|will you|would it|would you|can you|could you|can i|could i|may i|should i|has
        was it
    """,
}
_SIGNALS = {
    "cancel": """
        (i (want|need|would like|wish) to |id like to |(can|could) (you|we|i) |lets |let us |i wanna )?(stop|cancel|abort|quit|exit|end)( {it}| doing {it})?( now| here| right now| right there)?
        i (dont|do not) want (to (do|continue|go on|go on with|continue with) )?{it}( (any ?more|now))?
        i (dont|do not) want to (continue|go on|proceed)( any ?more)?|i dont want {it} any ?more
        lets not do {it}
        call {it} off|i give up|scratch the whole thing|im out|get me out( of (here|this))?
        stop here|lets stop( here)?|cancel please
    """,
    "give_up": """
        never ?mind|nevermind( {it})?|nvm|forget( about)? {it}|scrap {it}|drop {it}
        skip the whole thing|(i )?(have |ve |ive )?changed my mind|(ive|i have) changed my mind
        leave {it}|lets leave {it}|let it be
    """,
    "cancel_all": """
        (i want to |please |can you |lets )?(cancel|forget|stop|drop|abort|scrap|quit|end)( about)? (everything|all|all of it|all of this|all of that|all of them|it all|all that|the lot|the whole lot|both|all tasks)
    """,
    "task": """
        (i want to |id like to |i would like to |can you |could you |lets |i no longer want )?(cancel|stop|abort|forget( about)?|drop|never ?mind|scrap|quit) (the|my|this|that|our) (?P<task>.+)
    """,
    "any_task": """
        (whole |entire |current )?(task|process|request|form|thing|conversation|procedure)
    """,
    "repeat": """
        ((can|could|would|will) you |i want you to )?(please )?(say|repeat|tell me|ask)( me)?( {it}| the (question|last (bit|part|one|message|question)))?( (again|once more|one more time))
        ((can|could|would|will) you )?(please )?repeat( {it}| the (question|last (bit|part|one|message)))?( for me)?
        come again|pardon|pardon me|i beg your pardon|beg pardon|sorry what
        what was (that|the question)|what did you( just)? (say|ask)( me)?
        (what|huh|eh|excuse me what)|what was it you (said|asked)
        i (didnt|did not) (catch|hear|get) {it}|i missed {it}|say what|once more|one more time
        what were you (saying|asking)
    """,
    "wait": """
        ({bit_lead} )?(a|one|1|two|2|another|half a|just a|just one|a few|a couple of|couple of) (moment|moments|sec|secs|second|seconds|minute|minutes|min|mins|mo|bit|tick)
        hold on|hang on|wait|wait up|bear with me|brb|be right back|ill be right back
        give me time|stand by|let me (check|see|think|look|find out|ask)|let me {fetch}( .*)?
        gimme a sec|moment|hold it|i need (more )?time|not so fast
    """,
    "bit_lead": """
        give me|gimme|wait|hold on|hang on|hold on for|wait for|i need|it will take|just|only|in
        can you (give me|wait)|could you (give me|wait)|let me have
    """,
    "fetch": """
        (look|find|check|get|search|fetch|grab|see|ask|think|look up|dig)
    """,
    "busy": """
        (i|im|ill|i have|i need|i will|let me)( need| have| got| am| just| will)?( to)?( going to)? ?(find|look|looking|check|checking|get|getting|search|searching|fetch|grab|see|think|ask|call|answer)( .*)?
        someone is at the door|the phone is ringing
    """,
    "skip": """
        (can (i|we) |could (i|we) |may i |i want to |id like to |lets |ill |i will |please )?(skip|pass on|pass|omit)( {it}| this question| that question| the question)?
        next( question| one)?( please)?|move on|go to the next( one| question)?
        (id |i would |i d |ill |i )?(rather|prefer|prefer to|d prefer|would prefer)( not)( to)?( (say|answer|tell|tell you|share|disclose|give|provide|say that|answer that|share that|give that))?( {it})?
        keep {it} (to myself|private)
        i (dont|do not) want to (say|tell|tell you|answer|share|give|disclose|provide)( you)?( {it}| my \\w+( \\w+)?)?
        i (wont|will not) (say|tell|tell you|answer|give you)( {it})?|none of your business
        thats private|its private|thats personal|not telling( you)?|no comment
        leave {it} (blank|empty|open|out)|(lets )?leave {it} (blank|empty|open)|i have none
        not applicable|n a|na|that doesnt apply( to me)?|doesnt apply|without {it}|do without
    """,
    "lacking": """
        i (dont|do not) have (one|any|an|a|it)( \\w+)?( \\w+)?|i havent got (one|any|it)
        dont have (one|any)|i have no \\w+|there is none|there isnt (one|any)
    """,
    "unknown": """
        no idea
        (i )?(dont|do not|dunno|cant|cannot) ?(know|remember|recall|tell|say)?( {it}| yet| for sure)?
        i (have|got|ve) no (idea|clue)|ive no idea|idk|im not sure|not sure|i am not sure
        no clue|dunno|who knows|i forgot|i have forgotten|beats me
    """,
    "nothing": """
        no|nope|none|nothing|nothing (else|special|more|in particular)|no thanks|no thank you
        nah|not really|no none|no nothing|neither
    """,
    "explain": """
        why|why so|how come|what for|but why|and why|why though
        why (do|would|should|did) (you|we|they) (need|want|ask|require|have to know|need to know|want to know|ask me|ask for|collect|ask about)( for)?( {what})?( for)?
        what (do|would) you (need|want|use|do with)( {what})?( for| with( {what})?)?
        what (is|s) {it} (for|good for|about|needed for|used for)
        whats {it} (for|good for|about|needed for|used for)
        whats the (reason|purpose|point)( (of|for|behind) {it})?
        what is the (reason|purpose|point)( (of|for|behind) {it})?
        why (is|s|are) ({it}|my (?P<what>\\w+( \\w+){0,3}?)) (needed|necessary|required|important|relevant)
        why must i (say|tell|give|tell you|answer)( you)?( {it})?
        why do i (have|need) to (say|tell|give|answer|tell you|give you|provide)( {what})?
        is {it} (really |absolutely )?(necessary|needed|required|mandatory)
        do i (really )?(have|need) to (say|tell|answer|give|tell you|give you|provide)( {it})?
        do you really (need|have to know) {it}|must i( answer| say)?( {it})?|what does {it} mean
        what do you mean( by {it}| with {it})?|what happens with {it}|what will you do with {it}
    """,
    "what": """
        it|this|that|to know( {it})?|all this|all that|this information|that information
        to ask( {it})?|(to know )?(my|the|our|his|her) (?P<what>\\w+( \\w+){0,4}?)
    """,
    "human": """
        {want_human}{human_verb}( (to|with|through to|over to|on to))? {person}( instead)?
        {want_human}(get|give|find|send|bring) me {person}( to (talk|speak|chat) to)?
        {want_human}(call|bring in|fetch|get) {person}
        (i (want|need|would like|demand)|id like|id prefer|give me|get me) {someone}( (please|now|to help me))?
        is there {person}( i can (talk|speak) to)?|{human_verb} to someone
        (can|could) i (please )?(talk|speak|chat) (to|with) {person}
        (this|a) (is a job|case) for {someone}|not (a|with a) (bot|robot|machine)
        i (dont|do not) want to (talk|speak|chat) (to|with) (a|the) (bot|robot|machine|computer)( any ?more)?
        (a )?(real|live) (person|human|agent)
    """,
    "human_alone": """
        {someone}|human|agent|operator|representative|customer (service|support)|support( team)?
        call center|person
    """,
    "want_human": """
        ((i|we) (want|need|would like|wanna|prefer|have|demand)( to)? |(id|i would|id rather|i d) (like|love|prefer|rather)?( to)? ?|(can|could|may) (i|you|we) |(please )?let me |lets |please |just )?(please )?(just )?
    """,
    "human_verb": """
        (talk|speak|chat|connect me|put me through|put me|transfer me|hand me over|hand me|pass me|escalate|escalate me|escalate this|forward me|be connected|talking|speaking|be transferred)
    """,
    "person": """
        {someone}|someone( else| real| human)?|somebody( else| real)?|anyone( real)?
        customer (service|support|care)|support( team)?|human
        your (supervisor|manager|boss|colleague|team)|agent|operator|staff
    """,
    "someone": """
        (a|an|the|some|another|one of your) (real |live |human |actual |proper )*(person|human|human being|agent|operator|representative|rep|advisor|adviser|assistant|employee|staff member|member of staff|colleague|supervisor|manager|clerk|customer service (agent|representative|rep)|support agent|consultant|specialist|people|man|woman|someone)
    """,
}
_CHOICES = {
    "choice_lead": """
        i (want|need|would like|choose|pick|take|prefer|meant|mean|said|go for|think|guess)
        id (like|prefer|take|go for|choose|pick)|ill (take|have|go with|go for|choose|pick)
        lets (take|go with|do|go for)|give me|take|choose|pick|option|number|its|it is|thats
        that is|make it|go with|select|yes|no|ok|okay|sure
    """,
    "ordinal": """
        (the |option |number |no |num |nr |choice |answer )*(?P<place>\\w+)( (one|option|choice|of them|of these|of those|item|answer|possibility|entry))?
    """,
    "negated": """
        (no )?(not|anything but|everything but|all but|any but|definitely not|i dont (want|mean)|i didnt mean|i do not (want|mean)|except|without) (?P<named>.+)
    """,
    "neither": """
        none( of (them|these|those|that|the above|it))?|neither( of (them|these|those|the two))?
        nothing of (that|the sort)|not (any|one) of (them|these|those)|no(ne)?( thanks)?
        something else|nope|nah
    """,
    "meaning_go_on": """
        (i (want|would like) to |id like to |lets |let us |please )?(go on|continue|keep going|resume|carry on|proceed)( with)?( {it}| the old one| where (we|i) (were|was|left off|stopped))?
        the old one|go on with it|finish {it}
    """,
    "meaning_anew": """
        (i (want|would like) to |id like to |lets |let us |please )?(begin|start|restart|do it|do {it})( all)?( it)?( (anew|again|over|fresh|afresh|new|from scratch|from the (beginning|start)))( again)?
        restart|a new one|new one|new|fresh start|start over|from scratch|begin anew|another one
    """,
    "meaning_change": """
        (yes )?(i (want|would like) to |id like to |lets |please )?(change|modify|update|alter|adjust) ({it}|the booking|my booking)
        change|(yes )?change it
    """,
    "meaning_person": """
        (i (want|would like) to |id like to |let me |please )?(speak|talk) to (a |an )?(person|human|someone|agent)
        a person|person|human
    """,
    "meaning_leave": """
        (no )?(leave|keep) {it}( (as it is|as is|as it was|like that|alone|be|unchanged))?
        (no )?(leave|keep) (it|everything)|as it is|no change|nothing|(no )?thats fine
        (no )?never ?mind|forget it
    """,
}
_FORMS = {
    "lead": """
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
        rather|better|instead
    """,
    "form_contrast": """
        (?P<new>.+?) (?:, )?(?:and |but )?not (?P<old>(?!that )[^,]+)(?: ,.*)?
        (?:its |it is |it was |it wasnt |it isnt |that was |that is |thats )?not (?P<old>[^,]+?) ?(?:, )(?:but |rather |its |it is |it was |i meant )?(?P<new>.+)
        (?:its |it is |it was |that was |that is |thats )?not (?P<old>.+?) (?:but|rather) (?P<new>.+)
        (?:it wasnt|it isnt|that wasnt|that isnt|i didnt mean|i dont mean|i did not mean) (?P<old>.+?) ?, (?:but |rather |it was |its |i meant |it is )*(?P<new>.+)
        (?P<new>.+?) (?:instead of|rather than|in place of) (?P<old>.+)
        (?:change|correct|switch|turn|update) (?P<old>[^,]+?) (?:to|into|with) (?P<new>[^,]+)
        (?:replace) (?P<old>.+?) (?:with|by) (?P<new>.+)
    """,
    "form_named": """
        (?:(?:can|could|would) (?:you|we|i) |i (?:want|need|would like|have|had) to |id like to |please |lets |let me |i wanna )*(?:change|set|update|correct|move|switch|make|put|adjust|amend|turn|edit|fix) (?P<what>[^,]+?) (?:to be|to|into|as|=) (?P<new>.+)
        (?:the|my|our|his|her|their) (?P<what>[^,]+?) (?:should be|should have been|must be|needs to be|has to be|ought to be|is actually|was actually|is now|is in fact|is really|changed to|has changed to|is|was|are) (?!wrong|not|incorrect|false|off)(?P<new>.+?)(?: actually| instead| now)?
        (?:the|my|our|his|her|their) (?:correct|right|new|actual|real) (?P<what>[^,]+?) (?:is|was|are) (?P<new>.+)
        (?:make|have) (?:the|my|our) (?P<what>[^,]+?) (?P<new>[^ ,]+)
    """,
    "form_clear": """
        (?:(?:can|could|may|would) (?:you|we|i) |i (?:want|need|would like|have|had) to |id like to |please |lets |let me |i wanna |id rather |i must )*(?:change|correct|edit|update|fix|redo|re enter|reenter|adjust|amend|modify|remove|delete|clear|reset) (?:the|my|our|that|this|his|her|their) (?P<what>[^,]+?)(?: again| instead)?
        (?:the|my|our|that|this|his|her|their) (?P<what>[^,]+?) (?:is|was|are|looks|seems)(?: still| all| just)? ?(?:wrong|not right|not correct|incorrect|false|off|mistaken|not true|outdated|misspelled|mistyped)
        (?:the|my|our|that|this|his|her|their) (?P<what>[^,]+?) (?:isnt|wasnt|arent|doesnt look) (?:right|correct|true|accurate)
        (?:thats |that is |its |this is |you have |you got |i gave you )?(?:the |a |an )?(?:wrong|incorrect|false) (?P<what>[^,]+)
        (?:i got|i have|you got|you have|i gave) (?:the|my) (?P<what>[^,]+) wrong
        not (?:that|this|the) (?P<what>[^,]+)
        (?:thats|that is|this is|its|that isnt|it isnt) (?:not )?(?:my|the|our|his|her) (?P<what>[^,]+)
    """,
    "form_said": """
        (?:.+ )?(?:is|was|were|are|be|meant|mean|to) (?P<new>.+)
    """,
    "form_denied": """
        (?:i|we) (?:didnt|did not|dont|do not|never) (?:mean|say|said|meant|want) (?P<old>[^,]+)
        (?:its|it is|thats|that is|it was|this is|it isnt|it wasnt|im) not (?P<old>[^,]+)
        not (?P<old>[^,]+)
    """,
    "form_subject": """
        (?:.*, )?(?:(?:and|but|so|oh|well|because|when|as) )*(?:my|his|her|our|your|their|the|a|an) (?P<subject>[^ ,]+(?: [^ ,]+)??) (?:is|was|are|were|has|had|will|turns|turned|got|gets|lives|starts|ends|weighs|costs|cost|s)\\b
        (?:(?:and|but|so|oh|well) )*(?P<subject>i|he|she|they|we|you) (?:saw|met|heard|lost|ate|watched|read|won|born|said|told|missed|broke|called|bought|sold|forgot|hate|was born)\\b
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
_WORDS = {
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
    "negation": "not no never dont didnt isnt wasnt wont cant nor without",
    "around": """
        a an the we are us of there will be is it its this that i im id ill like would want need
        to for about around just only maybe roughly exactly approximately at on in by from until
        till please make have has had take and so then total altogether party people book table
        booking me my our you can could lets let go with say old years year hello hi hey good
        morning evening send pay transfer come coming arrive arriving give get reserve reservation
        appointment day time yes yeah ok okay sure well oh um hm actually thanks thank sorry think
        guess perhaps probably name reach call or any also date number amount some prefer works
        best ideally fine great
    """,
    "people_for": "for",
    "until": "to until till through",
    "contrast": "not isnt wasnt didnt meant mean instead wrong incorrect rather",
    "units": """
        people persons person guests nights night days day weeks week months month years euros
        euro dollars pounds percent kg km children kids bags rooms tickets cats dogs times hours
        minutes gb th
    """,
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

ENGLISH = Sayings(
    phrases={**_ANSWERS, **_SIGNALS, **_CHOICES, **_FORMS},
    words=_WORDS,
    ordinals={
        **dict.fromkeys(("first", "1st", "1", "one", "former"), 1),
        **dict.fromkeys(("second", "2nd", "2", "two"), 2),
        **dict.fromkeys(("third", "3rd", "3", "three"), 3),
        **dict.fromkeys(("fourth", "4th", "4", "four"), 4),
        **dict.fromkeys(("fifth", "5th", "5", "five"), 5),
        **dict.fromkeys(("sixth", "6th", "6", "six"), 6),
        **dict.fromkeys(("seventh", "7th", "7", "seven"), 7),
        **dict.fromkeys(("eighth", "8th", "8", "eight"), 8),
        **dict.fromkeys(("ninth", "9th", "9", "nine"), 9),
        **dict.fromkeys(("tenth", "10th", "10", "ten"), 10),
        **dict.fromkeys(("last", "latter", "bottom"), -1),
    },
    type_words={
        "integer": "number count",
        "number": "number",
        "money": "amount sum money price value",
        "date": "date day",
        "time": "time hour",
        "datetime": "date time day",
        "email": "email mail address",
        "phone": "phone telephone mobile cell number",
        "name": "name",
        "address": "address street",
    },
    leads={
        "time": "at around by about from",
        "date": "on by for",
        "datetime": "on at by for",
    },
    concepts=(
        "people persons person guests guest party seats seat covers cover diners pax heads travellers travelers passengers table us adults",
        "nights night",
        "days day",
        "rooms room",
        "children kids child kid",
        "years year age old",
        "bags bag suitcases luggage pieces",
        "parcels parcel packages package boxes items",
        "kg kilos kilograms weight weighs",
        "months month",
        "tickets ticket",
        "gb gigabytes gigs data",
    ),
)
