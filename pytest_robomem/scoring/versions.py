"""Names and versions of the rulebooks, for those who need no more than that."""

GUIDE = "guide@1"
OFFICIAL = "official@2026-07-21"
STRICT = "strict@1"

RULE_VERSIONS = {"guide": GUIDE, "official": OFFICIAL, "strict": STRICT}
