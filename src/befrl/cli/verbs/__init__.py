"""The verbs of `befrl`, one file each; a verb declares its arguments and calls one function of the package.

Its module has a docstring, whose first line is the verb's help, an `EXAMPLE`, `arguments(parser)` and `call(args)`.
"""

from befrl.common.registry import Registry

registry = Registry("verb", __name__, __path__)
