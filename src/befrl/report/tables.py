"""Tables of the page as text, and the ids of its elements."""

import itertools

from befrl.report import wording

TRACKS = {"K": "known rewards (track K)", "U": "unknown rewards (track U)"}


class Anchors:
    """Unique ids for the page's own elements; they have no '__', which marks ids inside drawings."""

    def __init__(self):
        self.given = set()

    def new(self, kind: str, name) -> str:
        wanted = f"{kind}-{wording.slug(name)}"
        names = (wanted if copy == 1 else f"{wanted}-{copy}" for copy in itertools.count(1))
        anchor = next(name for name in names if name not in self.given)
        self.given.add(anchor)
        return anchor


def pattern(paths) -> str:
    """Paths that differ in one folder as one, with a star for it; other paths one after the other."""
    places: dict[tuple, list] = {}
    for path in paths:
        *folder, thing, name = path.split("/")
        places.setdefault((*folder, name), []).append(thing)
    found = [
        "/".join([*folder, "*" if len(things) > 1 else things[0], name]) for (*folder, name), things in places.items()
    ]
    return ", ".join(found)


def table(title, rows, anchors, kind="table", note="", file="") -> dict:
    """A table as text: a line of headings and a line for each row, with tabs between the cells.

    The page's script makes a table of it that can be sorted, filtered and saved. `file` has all digits and columns.
    """
    columns = [_whole([row[key] for row in rows]) for key in rows[0]] if rows else []
    lines = [rows[0], *zip(*columns, strict=True)] if rows else []
    text = "\n".join("\t".join(" ".join(wording.number(cell).split()) for cell in line) for line in lines)
    return {
        "anchor": anchors.new(kind, title),
        "title": title,
        "text": text,
        "n": len(rows),
        "note": note,
        "file": file,
    }


def _whole(cells):
    """The cells of a column without decimals if all its numbers are whole: pandas makes floats of them."""
    numbers = [cell for cell in cells if isinstance(cell, float) and not wording.missing(cell)]
    if not all(number.is_integer() for number in numbers):
        return cells
    return [int(cell) if isinstance(cell, float) and not wording.missing(cell) else cell for cell in cells]


def case_title(instance, track) -> str:
    """The heading of an instance and track."""
    return f"{instance}, {TRACKS.get(track, f'track {track}')}"


def split(frames, columns):
    """The rows of each instance and track; columns that a frame lacks are empty."""
    for frame in frames:
        frame = frame.reindex(columns=list(dict.fromkeys(columns)))
        for (instance, track), part in frame.groupby(["instance", "track"], sort=False, dropna=False):
            yield instance, track, part.assign(agent=part["agent"].astype(str))


def records(frame, columns):
    """The rows of a frame with other names of its columns, {old: new}; missing values are empty texts."""
    frame = frame[list(columns)].rename(columns=columns).astype(object)
    return frame.where(frame.notna(), "").to_dict("records")
