"""The verbs of `befrl`, one file each: its arguments, and the function of the package that it calls.

A verb's module has a docstring whose first line is its help, an `EXAMPLE`, `arguments(parser)` and `call(args)`.
"""

from befrl.common.catalogue import Catalogue

catalogue = Catalogue("verb", __name__, __path__)
