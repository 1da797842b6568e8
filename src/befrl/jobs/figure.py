"""Draw a figure from tables."""

from befrl import figures
from befrl.figures.support.captions import CAPTIONS


def settings(study, figure):
    kind, shown = study.figure(figure)
    return [CAPTIONS[kind], study.styles(kind, shown)]


def modules(study, figure):
    return [__name__, figures.registry.module_name(study.figure(figure)[0])]


def make(study, figure):
    from befrl.figures.support.render import render

    kind, shown = study.figure(figure)
    out = study.layout.figure("svg", figure).removesuffix(".svg")
    command = study.command(study.layout.figure("svg", figure))
    sources, agents = figures.sources(study.layout, kind, shown), study.algorithms()
    render(kind, sources, out, command, agents)
