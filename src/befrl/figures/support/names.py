"""Naming the curves of a figure in its SVG: the report shows the name of a curve and switches it on and off."""

from matplotlib.legend import Legend
from matplotlib.text import Text

PREFIX = "curve:"


def give(figure):
    """Give lines, bands and markers with a label the id `curve:label`, and so the texts and legends that name them."""
    drawn = [artist for axes in figure.axes for artist in (*axes.lines, *axes.collections)]
    named = {str(artist.get_label()) for artist in drawn}
    legends = [entry for legend in figure.findobj(Legend) for entry in _entries(legend)]
    own = [(str(artist.get_label()), artist) for artist in drawn]
    texts = [(text.get_text().strip(), text) for text in figure.findobj(Text)]
    for label, artist in (*own, *legends, *texts):
        if label in named and not label.startswith("_"):
            artist.set_gid(PREFIX + label)


def _entries(legend):
    """The labels of a legend with the handles that are drawn beside them."""
    return zip((text.get_text() for text in legend.get_texts()), legend.legend_handles, strict=True)
