"""How one speaks of the talk itself in English: stop, again, why, a person."""

SIGNALS = {
    "wish": """
        (can|could|would|will|may) (you|we|i)|i (want|need|would like|have|wish|must)( to)?
        i want you to|id like to|please|lets|let us|let me|i wanna|id rather|ill|i will
    """,
    "cancel": """
        ({wish} )*{stop}( {it}| doing {it})?( now| here| right now| right there)?
        i (dont|do not) want (to (do|continue|go on|go on with|continue with) )?{it}( any ?more
            | now)?
        i (dont|do not) want to (continue|go on|proceed)( any ?more)?|lets not do {it}
        call {it} off|i give up|scratch the whole thing|im out|get me out( of (here|this))?
    """,
    "stop": """
        stop|cancel|abort|quit|exit|end
    """,
    "give_up": """
        never ?mind|nevermind( {it})?|nvm|forget( about)? {it}|scrap {it}|drop {it}
        skip the whole thing|(i )?((have|ve|ive) )?changed my mind|(ive|i have) changed my mind
        leave {it}|lets leave {it}|let it be
    """,
    "cancel_all": """
        ({wish} )*(forget|drop|scrap|{stop})( about)? {everything}
    """,
    "everything": """
        everything|all|all of (it|this|that|them)|(it|this|that) all|all that|the (whole )?lot|both
        all (tasks|requests)
    """,
    "task": """
        ({wish} |i no longer want )*(forget( about)?|drop|never ?mind|scrap
            |{stop}) (the|my|this|that|our) (?P<task>.+)
    """,
    "any_task": """
        ((whole|entire|current) )?(task|process|request|form|thing|conversation|procedure)
    """,
    "repeat": """
        ({wish} )*(say|tell me|ask|ask me)( {said_last})? (again|once more|one more time)
        ({wish} )*repeat( {said_last})?( (again|for me|once more))?|come again|pardon|pardon me
        i beg your pardon|beg pardon|what|huh|eh|sorry what|excuse me what|say what|once more
        one more time|what was {said_last}|what (did|were) you( just)? (say|ask|saying|asking)( me)?
        what was it you (said|asked)|i (didnt|did not) (catch|hear|get) {said_last}|i missed {it}
    """,
    "said_last": """
        {it}|the question|the last (bit|part|one|message|question|sentence)
    """,
    "wait": """
        ({bit_lead} )?(a|one|1|two|2|another|half a|just a|just one|a few|a couple of|couple of) (
            moment|moments|sec|secs|second|seconds|minute|minutes|min|mins|mo|bit|tick)
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
        (i|im|ill|i have|i need|i will|let me)( need| have| got| am| just
            | will)?( to)?( going to)? ?(find|look|looking|check|checking|get|getting|search
            |searching|fetch|grab|see|think|ask|call|answer)( .*)?
        someone is at the door|the phone is ringing
    """,
    "skip": """
        ({wish} )*(skip|pass on
            |pass|omit)( {it}| this question| that question| the question)?
        next( question| one)?( please)?|move on|go to the next( one| question)?
        ((id|i would|i d|ill|i) )?(rather|prefer|prefer to|d prefer|would prefer)( not)( to)?( (
            say|answer|tell|tell you|share|disclose|give|provide|say that|answer that|share that
            |give that))?( {it})?
        keep {it} (to myself|private)
        i (dont|do not) want to (say|tell|tell you|answer|share|give|disclose
            |provide)( you)?( {it}| my \\w+( \\w+)?)?
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
        (i )?(dont|do not|dunno|cant|cannot) ?(know|remember|recall|tell|say)?( {it}| yet
            | for sure)?
        i (have|got|ve) no (idea|clue)|ive no idea|idk|im not sure|not sure|i am not sure
        no clue|dunno|who knows|i forgot|i have forgotten|beats me
    """,
    "nothing": """
        no|nope|none|nothing|nothing (else|special|more|in particular)|no thanks|no thank you
        nah|not really|no none|no nothing|neither
    """,
    "explain": """
        why|why so|how come|what for|but why|and why|why though
        why (do|would|should|did) (you|we|they) (need|want|ask|require|have to know|need to know
            |want to know|ask me|ask for|collect|ask about)( for)?( {what})?( for)?
        what (do|would) you (need|want|use|do with)( {what})?( for| with( {what})?)?
        what (is|s) {it} (for|good for|about|needed for|used for)
        whats {it} (for|good for|about|needed for|used for)
        whats the (reason|purpose|point)( (of|for|behind) {it})?
        what is the (reason|purpose|point)( (of|for|behind) {it})?
        why (is|s|are) ({it}|my (?P<what>\\w+( \\w+){0,3}?)) (needed|necessary|required|important
            |relevant)
        why must i (say|tell|give|tell you|answer)( you)?( {it})?
        why do i (have|need) to (say|tell|give|answer|tell you|give you|provide)( {what})?
        is {it} ((really|absolutely) )?(necessary|needed|required|mandatory)
        do i (really )?(have|need) to (say|tell|answer|give|tell you|give you|provide)( {it})?
        do you really (need|have to know) {it}|must i( answer| say)?( {it})?|what does {it} mean
        what do you mean( by {it}| with {it})?|what happens with {it}|what will you do with {it}
    """,
    "what": """
        it|this|that|to know( {it})?|all this|all that|this information|that information
        to ask( {it})?|(to know )?(my|the|our|his|her) (?P<what>\\w+( \\w+){0,4}?)
    """,
    "human": """
        ({wish} )*(just )?{human_verb}( (to|with|through to|over to|on to))? {person}( instead)?
        ({wish} )*(get|give|find|send|bring) me {person}( to (talk|speak|chat) to)?
        ({wish} )*(call|bring in|fetch|get) {person}|({wish} )*{human_verb} to someone
        (i (want|need|would like|demand)|id like|id prefer|give me|get me) {someone}( to help me)?
        is there {person}( (i|we) can (talk|speak) to)?|this is a (job|case) for {someone}
        i (dont|do not) want to (talk|speak|chat) (to|with) (a|the) {robot}( any ?more)?
        not (a|with a) {robot}|(a )?(real|live) (person|human|agent)
    """,
    "robot": """
        bot|robot|machine|computer|chatbot
    """,
    "human_alone": """
        {someone}|human|agent|operator|representative|customer (service|support)|support( team)?
        call center|person
    """,
    "human_verb": """
        talk|speak|chat|connect me|put me|put me through|transfer me|hand me over|hand me|pass me
        escalate|escalate (me|this|it)|forward me|be (connected|transferred|put through)
    """,
    "person": """
        {someone}|someone( else| real| human)?|somebody( else| real)?|anyone( real)?
        customer (service|support|care)|support( team)?|human
        your (supervisor|manager|boss|colleague|team)|agent|operator|staff
    """,
    "someone": """
        (a|an|the|some|another|one of your) ((real|live|human|actual|proper) )*{staff}
    """,
    "staff": """
        person|human|human being|agent|operator|representative|rep|advisor|adviser|assistant
        employee|staff member|member of staff|colleague|supervisor|manager|clerk|consultant
        specialist|people|man|woman|someone|(customer service|support) (agent|representative|rep)
    """,
}
