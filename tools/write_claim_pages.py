"""Write the made parts of docs/claims/*.md from a study's records: python tools/write_claim_pages.py results"""

import sys
from pathlib import Path

from befrl.claims import ledger
from befrl.claims.pages import pages
from befrl.claims.render import written

FOLDER = Path(__file__).parents[1] / "docs" / "claims"

for id in pages():
    page = FOLDER / f"{id}.md"
    record = ledger.read(Path(sys.argv[1]) / "claims" / f"{id}.json", id)
    page.write_text(written(page.read_text(encoding="utf-8"), record), encoding="utf-8")
