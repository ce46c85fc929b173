"""Names, versions and published defaults of the rulebooks, for those who need no more than that."""

GUIDE = "guide@1"
OFFICIAL = "official@2026-07-21"
STRICT = "strict@1"

RULE_VERSIONS = {"guide": GUIDE, "official": OFFICIAL, "strict": STRICT}

# Seeds of a published sweep: official's own; for the others, those of revision 2026-06-29, the last
# before it (the guide names a first seed, 100, and no number).
SWEEPS = {"guide": range(100, 150), "official": range(50, 101), "strict": range(100, 150)}
# Wording of the instructions: official's scorer speaks in its own sentences.
PROMPTS = {"guide": "ours", "official": "published", "strict": "ours"}
