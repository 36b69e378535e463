"""The words by which an answer says that a step is done, that it is not done, or leaves a doubt.

The patterns are applied to text that `plain` has simplified: lower case, no markup, one space between words.
"""

from __future__ import annotations

import re
from typing import Final

from accp_core.lazy_patterns import lazy_pattern

__all__ = [
    "BARE_FAILURE", "CONTRADICTION", "DONE_MARK", "DONE_WORDS", "DOUBT", "DOUBT_IN_LONG", "ENGLISH", "EVIDENCE",
    "FAILED_WORDS", "FAIL_MARK", "FOREIGN", "FOREIGN_UNDONE", "NEUTRAL", "NO_RESULT", "NUMBER_WORDS", "PROSE", "UNDONE",
]  # fmt: skip


def _words(text: str) -> str:
    """Return a pattern for any of the words, which are separated by blanks; `_` within one is a blank."""
    return "|".join(word.replace("_", " ") for word in text.split())


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pattern(pattern: str) -> re.Pattern[str]:
    return lazy_pattern(pattern, re.IGNORECASE)


_ADVERBS: Final = (
    r"(?:\s(?:yet|been|be|being|fully|completely|entirely|really|actually|quite|all|at all|successfully|properly|"
    r"currently|even|it|this|that|the|a|any|of|get|getting|have))"
)
_FINISHED: Final = _words(
    "done completed? finish(?:ed)? possible able performed? executed? started? accomplish(?:ed)? achieved? carried "
    "succeed(?:ed)? successful ready processed? delivered? sent send written write created? run working work "
    "reach(?:ed)? found find count(?:ed)? access(?:ible)? available permitted allowed authorized implemented? "
    "resolved? attempted? verified handled? managed? obtain(?:ed)? retrieved? determined? saved? fulfilled? "
    "applicable sure certain know have made make do did get"
)
_NOT: Final = r"(?:not|never|n't|cannot|can't)"

# Clear statements that the work is not done. Alone they are a failure, next to "done" a contradiction.
UNDONE: Final = _pattern(
    rf"\b{_NOT}{_ADVERBS}{{0,3}}\s(?:{_FINISHED})\b"
    r"|\b(?:i|we)(?:\s(?:am|are|was|were|have|had|did|do|can|could|will|would|ca|wo|is)|'m|'ve|'re|'d|'ll)?"
    r"(?:n't|\s(?:just|simply|really|still|also))?\s?(?:not|n't|never|failed|unable|refuse|decline|gave up)\b"
    r"|\b(?:could|can|would|was|were|did|does|do|is|are|have|has|had|wo|ca)(?:n't|\snot)\s"
    rf"(?:\w+\s){{0,2}}(?:{_FINISHED})\b"
    r"|\b(?:cannot|can't|can not|could not|couldn't|couldnt|cant|unable to|not able|incapable of|failed to|fails to|"
    r"impossible|refused? to|declined? to|gave up|had to (?:stop|abort|skip)|ran out of|timed out|"
    r"access denied|permission denied|denied access|forbidden|unauthori[sz]ed)\b"
    r"|\bno (?:access|permission|credentials|way to|luck|idea|tools?|answer from|response from|progress|results? yet)\b"
    r"|\b(?:undone|unfinished|incomplete|uncompleted|unsuccessful(?:ly)?|aborted|not-done)\b"
    r"|\b(?:skipped|left out|omitted) (?:this|it|the (?:step|task|item)|that)\b"
    r"|\bnothing (?:was|has been|is|could be|got)? ?(?:done|finished|completed|sent|written)\b"
    r"|\b(?:none|neither|no part) of (?:this|it|them|these|those|the (?:steps?|items?|tasks?|above))\b"
    r"|\bfar from (?:done|finished|complete)|\bstill (?:open|to do|to be|pending|undone|missing|working|in progress)\b"
)

# What follows an explicit "done:" and takes it back.
CONTRADICTION: Final = _pattern(
    r"(?:no|not|none|never|nope|false|nothing|pending|partial(?:ly)?|almost|nearly|unknown|unclear|maybe|tbd|todo|"
    r"to do|later|soon|in progress|failed|error|skipped|blocked)(?:\s\S+)?[\s.!?]*"
    r"|\d{1,2}(?:\.\d+)? ?%(?: (?:done|complete))?[\s.!]*"
    r"|.*\b\d+ (?:of|out of|/) ?\d+ (?:steps|items|tasks|todos|done|completed?|finished)\b.*"
)

# Words after which "it is done" is no longer certain; they count in answers that do not say "done:".
DOUBT: Final = _pattern(
    r"\b(?:no|not|none|nope|nothing|nobody|nowhere|neither|nor|never|without|hardly|barely|except|however|but|although|"
    r"cannot|unable|fail\w*|error\w*|exceptions?|traceback|denied|refus\w+|declin\w+|unavailable|unreachable|offline|"
    r"broken|crash\w*|time ?d? ?out\w*|stuck|blocked|blocker|abort\w*|cancel(?:l?ed|ling)|skip\w*|bounced|pending|"
    r"partial\w*|partly|almost|nearly|todo|tbd|placeholder|attempt\w*|tr(?:y|ied|ying)|hopefully|maybe|perhaps|"
    r"probably|possibly|presumably|might|would|should|could|will|shall|i'll|we'll|'ll|let me|going to|about to|"
    r"plan(?:s|ned|ning)? to|intend\w*|waiting|wait|need(?:s|ed)? to|need more|needs?|require[sd]?|"
    r"sorry|apolog\w+|regret\w*|afraid|alas|sadly|unfortunate\w*|unsure|uncertain|unclear|unknown|seems?|appears?|"
    r"i think|i guess|i believe|guess\w*|assum\w+|so far|not yet|yet|lack\w*|missing|insufficient|inconclusive|"
    r"postponed|deferred|rejected|halted|stopped|interrupted|ran out|gave up|give up|"
    r"(?:please|could you|can you) (?:provide|give|share|send me|confirm|grant|tell|let)|as an ai)\b"
    r"|\b(?:exceed\w*|expired?|invented|made (?:\w+ )?up|making up|fak\w+|fabricat\w+|an? example|examples?:|sample|"
    r"dummy|mock\w*|"
    r"hypothe\w+|illustrat\w+|start(?:ed|ing)|begun|began|underway|under way|ongoing|running|background|eta|await\w*|"
    r"on hold|queued?|scheduled|maintenance|outstanding|prevented|infeasible|unfeasible|out of scope|abandon\w*|"
    r"decided against|opted|rather|prefer|halfway|half done|half of|more or less|sort of|kind of|roughly done|unless|"
    r"to be (?:done|continued|determined|announced)|remain(?:s|ed|ing)?|leftover|until|once|retry|try again|instead|"
    r"ask (?:again|the|me|for)|check back|someone else|somebody else|yourself|manually|draft(?:ed)?|prohibited|"
    r"not allowed|beyond|too (?:hard|difficult|big|large|long|many|complex)|gave out|turned out|zero (?:of|done)|"
    r"only part|only the|in theory|supposed to|pretend\w*|simulat\w+|omit\w*|ignor\w+|rate limit|quota|segfault|fault|"
    r"http [45]\d\d|[45]\d\d (?:error|forbidden|not found|bad)|status (?:code )?[45]\d\d|a (?:40\d|50\d)|"
    r"step \d+: (?:open|go|click|run|ask|check|find|count|filter|use)|first,? (?:i|we|you)|to \w+ (?:this|the|"
    r"who|what)|"
    r"of course|happy to|glad to|how can i|i am an?|i'm an?)\b|\b(?:sure|certainly),|\b0 ?%"
    r"|n't\b|\?|[❌✗✘✖☐⛔🚫⚠❓]|~~|<(?:s|del|strike)>|\bun(?:done|finished|resolved|completed|answered|successful)\w*"
    r"|\bin(?:complete|accessible)\b|\bimpossible\b|\bin progress\b|\bto do\b|\bzero progress\b"
)

# In a long answer most words are those of the result, such as "3 logins failed": these are about the work itself.
DOUBT_IN_LONG: Final = _pattern(
    r"\b(?:sorry|apolog\w+|regret\w*|afraid|alas|sadly|unfortunate\w*|unsure|uncertain|inconclusive|so far|not yet|"
    r"todo|tbd|placeholder|tried|attempted|hopefully|i will|i'll|we'll|let me|i am going to|i'm going to|i would|i'd|"
    r"i think|i guess|i believe|i assum\w+|i need|waiting for|in progress|as an ai|partial(?:ly)?|incomplete|except|"
    r"(?:could|can|should|shall) (?:you|i|we)|please (?:provide|give|share|send me|confirm|grant|let me)|"
    r"(?:step|task|item|work|job|request) (?:was|is|has|could|did)(?: been)? (?:not|n't|fail\w*|skipped|abort\w*))\b"
    r"|[❌✗✘✖☐⛔🚫]|~~"
)

_SEPARATOR: Final = r"\s*(?:[:;.,!(|=]|[-\u2013\u2014]+(?=\s|$)|->|→|\n|$)"
_LABEL: Final = (
    r"(?:(?:status|state|result|outcome|answer|verdict|item \S{1,20}|step \S{1,20})\s*[:=\u2013\u2014-]\s*)?"
)

DONE_WORDS: Final = frozenset(
    ["done", "complete", "completed", "finished", "success", "successful", "succeeded", "ok", "true", "1", "yes", "x"]
)
"""The values of a status field that say done, in lower case."""
FAILED_WORDS: Final = frozenset(
    [
        "failed", "failure", "fail", "error", "false", "0", "no", "not done", "undone", "unfinished", "incomplete",
        "not completed", "not complete", "not finished", "not started", "pending", "open", "todo", "to do", "blocked",
        "skipped", "in progress", "aborted", "cancelled", "canceled", "rejected", "unable", "unsuccessful",
        "impossible",
    ]
)  # fmt: skip
"""The values of a status field that say not done, in lower case."""

# An explicit "done:", as `HOW_TO_ANSWER` asks for it; the separator decides how far it is trusted.
DONE_MARK: Final = _pattern(
    rf"[\s>*_`#\-•+]{{0,20}}{_LABEL}[*_`]{{0,3}}(?:done|completed?|finished|success|succeeded)[*_`]{{0,3}}"
    r"\s*(?:(?P<sure>:|=)|(?P<unsure>[;.,!|]|(?=\()|[-\u2013\u2014]+(?=\s|$)|->|→|\n|$))[*_`]{0,3}\s*"
    r"|[\s>*_`#\-•+]{0,20}(?P<sign>\[x\]|✅|☑️?|✔️?|✓)\s*[:\u2013\u2014-]?\s*"
)
FAIL_MARK: Final = _pattern(
    r"[\s>*_`#\-•+]{0,20}(?:(?:i'm |i am |so |very |we are )*(?:sorry|unfortunately|apologies|alas|sadly|regrettably)"
    rf"[\s,:;.!\u2013\u2014-]+(?:but )?)?{_LABEL}[*_`]{{0,3}}"
    r"(?:(?:this |it |the step )?(?:is |was |has )?not[\s_-]+(?:yet )?(?:been )?(?:fully )?"
    r"(?:done|completed?|finished|possible|started|able|applicable|successful|ok|available)|notdone|undone|unfinished|"
    r"incomplete|failed|failure|fail|blocked|skipped|pending|to[ -]?do|in progress|partial(?:ly done)?|unable|"
    r"impossible|unsuccessful|aborted|cancel?led|rejected|refused|error|no access|access denied|"
    rf"permission denied|timed? ?out)[*_`]{{0,3}}{_SEPARATOR}[*_`]{{0,3}}\s*"
    r"|[\s>*_`#\-•+]{0,20}(?:\[ \]|☐|❌|✗|✘|✖|⛔|🚫)\s*[:\u2013\u2014-]?\s*"
)

BARE_FAILURE: Final = _pattern(
    r"[\W_]*(?:not (?:yet )?)?(?:done|completed?|finished|possible|failed|undone|failure|error)[\W_]*"
)
"""A reason that is none: it says "not done" once more."""

# What stands where a result should be and says nothing: words about being done, and placeholders.
NO_RESULT: Final = _pattern(
    r"(?!\W*yes\W*$)[\W_]*(?:(?:ok(?:ay)?|yes|all|the|this|that|it|its|it's|i|we|i've|we've|have|has|had|is|was|"
    r"been|am|now|and|"
    r"task|step|item|items|work|job|request|everything|done|complete[d]?|completion|finish(?:ed)?|ready|as|"
    r"requested|asked|required|did|status|success(?:ful(?:ly)?)?|fully|successfully|performed|executed|sir)\b[\W_]*)*"
    r"|[\W_]*(?:n/?a|none|null|nil|undefined|nan|todo|tbd|result|the result|why|answer|see (?:above|below)|as above|"
    r"same)[\W_]*"
)

# A word that a result has and an excuse rarely has: a number, a name, an address, a quotation, a reference.
EVIDENCE: Final = lazy_pattern(
    r"\d|[$€£]|https?://|\w@\w|\w\.\w{2,4}\b|[\"\u201c\u201d\u00ab]\w|"
    r"(?<=[\w,;:)] )[A-Z][a-z\u00e0-\u00ff]+|\b[A-Z][a-z]+ [A-Z][a-z]+"
)
NUMBER_WORDS: Final = _set(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million dozen both yes"
)
PROSE: Final = _pattern(
    r"\b(?:i|we|you|he|she|it|they|this|that|there|these|those|me|us|my|our|your|its|is|are|was|were|be|been|am|"
    r"has|have|"
    r"had|do|does|did|can|may|must|get|gets|got|goes|went|came|said|says|made|makes|took|takes|run|runs|ran|see|let|"
    r"needs?|use|uses|belongs?|stands?|ends?|keeps?|kept|lost|left it|give|gave|given|put|through|in,|to go|"
    r"at the|save for|"
    r"as far as|see|here|please|plan|exit|still|why|how|what|if|because|since|while|when|where|after|before|until|so|"
    r"nah|negative|oops|pass|later|soon|half|hold|hmm|understood|next|tomorrow|busy|gone|stuck|open|closed|void|blank|"
    r"empty|whatever|idk|dunno|nada|rien|nichts|offen|nein|fehler|kaputt|falta|manca|fehlt|"
    r"(?!(?:bill|pric|shipp|build|str|spr|morn|even|meet|train|market|engineer|bank|book|list|rat|sett|host|th|k)ing\b)"
    r"\w{2,}ing|(?!(?:hundr|spe|se|fe|unlimit|limit|unit|bre)ed\b)\w{2,}ed)\b"
)
"""Words of sentences and of excuses, which data do not have."""

NEUTRAL: Final = _set(
    "a all and are as asked below completed done each final findings following for format go hello here hi i "
    "in is item "
    "items json list my of ok okay output report requested result results status step steps sure summary "
    "table task tasks "
    "thank thanks the these this to update you your answer answers with"
)
"""The words of an introduction that says nothing about the work."""

ENGLISH: Final = _set(
    """a about above across after again all also am an and any are around as at back be because been before being below
    best between both but by can could daily did do does done down during each either end every few first five for found
    four free from full get gets give given good got had half has have he held her here highest him his how i if in
    inside into is it its just keep kept largest last late least left less like list long low lowest made main make many
    may me mean means monthly more most mr ms much must my name named near new next no not now of off old on once one
    only open or other our out over own paid part per prices put rows said same saved see seen sent set she short show
    shows since six so some still such sum take taken ten than that the their them then there these they this those
    three through time to today together too took top total two under until up us use used using very via want was we
    week well went were what when where which while who whole whose why wide will with within work would written wrote
    year yes yet you your"""
)
"""Common English words; prose without any of them is another language, or no prose."""

FOREIGN: Final = _set(
    """der das und ist nicht ich wir ein eine einen einem kein keine keinen mit von für auf dem zum zur habe haben wurde
    wurden konnte konnten können leider sind auch noch nach über erledigt fertig fehlgeschlagen gescheitert unmöglich
    misslungen le les des une est pas je nous vous avec pour dans sur qui que ont été j'ai n'ai c'est aucun aucune aux
    du cette il elle sont désolé malheureusement échec échoué fait rien erreur el los las una unos unas por con para se
    han está fue ser pude puedo pudo lo siento ningún ninguna nada sin hecho imposible fallo falló fallido lamento
    desafortunadamente lamentablemente gli che non è sono stato purtroppo impossibile fallito errore fatto não foi um
    uma com os possível infelizmente impossível falhou feito niet een het geen zijn ik wij kon helaas voor gelukt
    mislukt onmogelijk gedaan nie się jest że niestety zrobione inte ikke och og det är jag jeg att ett kunde tyvärr
    desværre dessverre gjort misslyckades ei ole voinut valitettavasti tehty değil yok bir için maalesef není jsem
    bohužel nem sajnos tidak belum maaf không chưa nu sunt"""
)
"""Common words of other languages that are neither English words nor parts of many names."""

# After "done:", in other languages.
FOREIGN_UNDONE: Final = _pattern(
    r"\b(?:nicht|kein\w*|leider|unmöglich|fehlgeschlagen|gescheitert|n'ai|pas|désolé\w*|malheureusement|échec|échoué|"
    r"ningun\w*|imposible|siento|lamentablemente|desafortunadamente|falló|"
    r"no (?:se )?(?:pude|puedo|pudo|he|ha|hay|está|fue|es|hecho)|fallido|non|"
    r"purtroppo|impossibile|não|infelizmente|impossível|niet|geen|helaas|mislukt|nie|niestety|"
    r"inte|ikke|tyvärr|desværre|dessverre|valitettavasti|değil|maalesef|bohužel|sajnos|tidak|belum|không|chưa)\b"
)
