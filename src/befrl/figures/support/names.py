"""Naming the curves of a figure in its SVG: the report shows the name of a curve and switches it on and off."""

from matplotlib.container import Container
from matplotlib.legend import Legend
from matplotlib.text import Text

PREFIX = "curve:"


def give(figure):
    """Give curves and bars with a label the id `curve:label`, and so the texts and legends that name them."""
    drawn = [artist for axes in figure.axes for artist in (*axes.lines, *axes.collections, *axes.containers)]
    own = [(str(artist.get_label()), each) for artist in drawn for each in _parts(artist)]
    named = {label for label, _ in own}
    legends = [entry for legend in figure.findobj(Legend) for entry in _entries(legend)]
    texts = [(text.get_text().strip(), text) for text in figure.findobj(Text)]
    for label, artist in (*own, *legends, *texts):
        if label in named and not label.startswith("_"):
            artist.set_gid(PREFIX + label)


def _entries(legend):
    """The labels of a legend with the parts of the handles that are drawn beside them."""
    entries = zip(legend.get_texts(), legend.legend_handles, strict=True)
    return [(text.get_text(), part) for text, handle in entries for part in _parts(handle)]


def _parts(artist):
    """What a container, such as a curve with error bars, contains; or the artist itself."""
    return artist.get_children() if isinstance(artist, Container) else [artist]
