"""The second derivations of the claims, each made from the paper alone, without sight of the first or of the attacks.

The data files hold, by the number of the claim, verdict, argument and correction.
"""

import functools
import json
from importlib import resources


@functools.cache
def derivations() -> dict[str, dict]:
    """The second derivations by the number of the claim."""
    files = sorted(resources.files(__name__).iterdir(), key=lambda file: file.name)
    texts = [file.read_text(encoding="utf-8") for file in files if file.name.endswith(".json")]
    return {id: entry for text in texts for id, entry in json.loads(text).items()}
