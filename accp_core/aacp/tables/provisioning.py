"""How people say the steps of the provisioning workflow."""

from typing import Any, Final

__all__ = ["PROVISIONING_SAYINGS"]


def _ways(things: str, *may: str, wants: str = "") -> list[dict[str, list[str]]]:
    """Return how somebody asks for something that is made for a user, or that somebody wants for one.

    "Set up j.smith's mailbox" makes one; "I need j.smith's mailbox" asks for one that is there, so a possessive and
    "of" belong to the first only.
    """
    return [
        {"needs": ["<create>", things], "may": ["<person>", "<also>", *may]},
        {"needs": [f"<want>{wants}", things], "may": ["<for_user>", "<also>", *may]},
    ]


_GRANT: Final = (
    "|<grant>|(make sure|ensure) [that] {username:account} (can|may|is able to) (use|access)|"
    "(set|get) {username:account} [set] up [with]"
)
_DETAILS: Final = [
    "<person>|[that] <new> {username:account} ['s]",
    "[with] status [of|is] ok|as ok",
    "<actor>|[carried out] by {actor:code}",
    "<systems>",
]
_PROVISIONING: Final = (
    "[of|for|about] [successful] [user|account|accounts] (provisioning|onboarding) [of accounts]|"
    "that (provisioning|onboarding) <finished>|"
    "that (provisioning|onboarding) (of|for) <new> {username:account} <finished>|"
    "[that] [all] [new] [user] accounts [have|has] <done>|"
    "[that] [all] [new] [user] accounts for <new> {username:account} [have|has] <done>|"
    "[that] <new> {username:account} ['s] [user] accounts [have|has] <done>|"
    "[that] <new> {username:account} (has been|was|is) (provisioned|set up|onboarded)"
)
PROVISIONING_SAYINGS: Final[dict[str, Any]] = {
    "parts": {
        "create": (
            "create|set up|build|make|add|provision|configure|sort out|arrange|organise|organize|issue|register|order|"
            "prepare|creating|setting up|making|adding|provisioning"
        ),
        "grant": (
            "give|grant|provide|allow|assign|get|enable|activate|turn on|switch on|equip|"
            "giving|granting|enabling|activating|"
            "let {username:account} (use|have|access)"
        ),
        "want": (
            "(i|we) need|(i'd|we'd|i would|we would) like|(is|are) (needed|required)|"
            "[will] (needed|required|needs|requires|need|require|wanted)|(can|could|may) (we|i) (have|get)"
        ),
        "newcomer": "user|employee|starter|joiner|hire|colleague|member of staff|team member",
        "new": "[our] [new] [<newcomer>]",
        "for_user": (
            "[for|to] <new> {username:account} [with]|"
            "[for|with] [new] [user|employee] (username|user name|user id|login) {username:login}"
        ),
        "person": "<for_user>|[for|of] <new> {username:account} ['s]",
        "also": (
            "(set it up|sort it out|arrange it|created|in place|to be created|ready|set up|organised|sorted)|"
            "we have [new] (joiner|starter|employee|hire|colleague)|[we have] new (starter|joiner|hire)"
        ),
        "microsoft": "m365|microsoft 365|office 365|o365|outlook|exchange [online]",
        "directory": "active directory|ad",
        "done": "[been|was|were|is|are|successfully] (provisioned|set up|created|completed|done)",
        "finished": "(is|was|has been) (complete|completed|done|finished)",
        "systems": "[on|in|for|to|across] [systems] {systems:system*}",
    },
    "choices": {
        "system": {"AD": "ad|active directory", "M365": "m365", "VPN": "vpn", "CRM": "crm", "BADGE": "badge"},
        "zone": {
            "main_entrance": "main_entrance|main entrance|front entrance",
            "office_floor": "office_floor|office floor",
            "lab": "lab|laboratory",
            "server_room": "server_room|server room",
            "warehouse": "warehouse",
            "car_park": "car_park|car park",
            "data_centre": "data_centre|data centre|data center",
        },
    },
    "steps": {
        "create_ad_account": _ways(
            "[new] (<directory>|directory|it|network|domain|windows) [user|login] (account|accounts|user)|"
            "[new] [it] user account|[user|account] {username:account} in <directory>",
            "(with|including|incl) email , (department|dept) , (group|grp) [,] and password reset",
            "in <directory>",
            wants="|open",
        ),
        "provision_email": [
            *_ways(
                "[new] [<microsoft>|email|e mail|mail|work|corporate|company] (mailbox|inbox) [account]|"
                "[new] [<microsoft>|work|corporate|company] (email|e mail|mail) [account|access]|with email",
                "(with|including|incl) (licence|license) , signature [,] and (distribution lists|distribution list|dl)",
                "(in|on) <microsoft>",
                wants=_GRANT + "|new",
            ),
            # a mailbox that is opened is read, unless somebody has just come
            {
                "needs": [
                    "open [up]",
                    "[<microsoft>|email] (mailbox|inbox) for",
                    "[our] new <newcomer> {username:account}",
                ]
            },
        ],
        "provision_vpn": _ways(
            "[new] [remote [access]] vpn (access|profile|account|connection|login)|[access] [to|with|for|on] [our] vpn|"
            "use vpn",
            "[with|including|using] (mfa|multi factor authentication)|[with] profile and mfa",
            wants=_GRANT + "|connect",
        ),
        "provision_crm": _ways(
            "[new] (salesforce|crm) [crm] (user|account|access|login|profile|licence|seat) [account]|"
            "(in|to|on|into|access to|access in|with) [our] (salesforce|crm)|user in (salesforce|crm)",
            "(with|including|incl) profile , team , manager [,] and view",
            wants=_GRANT + "|open",
        ),
        "provision_badge": _ways(
            "[new] [building|office|door|entry|access|security|staff|employee|id] badge [access]|"
            "[new] (building|office|door|entry|security) [access] (card|pass)|[new] access (card|pass)|"
            "[new] [building|office] keycard|(building|door|office) access",
            "[access] (to|for|covering|on|with access to) [zone|zones] {zones:zone*}",
            wants=_GRANT,
        ),
        "log_provisioning": [
            {"needs": ["<log>", _PROVISIONING], "may": ["<audit_log>", *_DETAILS]},
            {"needs": ["<store>", _PROVISIONING, "<audit_log>"], "may": _DETAILS},
            {
                "needs": [
                    "<log>",
                    "[that] {actor:code} (provisioned|set up|created) {systems:system*} (for|accounts for) "
                    "{username:account}",
                ],
                "may": ["<audit_log>"],
            },
        ],
    },
}
"""The table of `ITEncoder`."""
