"""Tables in Markdown."""


def markdown_table(head, rows, right=()) -> str:
    """A table with these headings and rows of texts; the columns with the numbers `right` are aligned to the right."""
    sides = ["---:" if column in right else "---" for column in range(len(head))]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, sides, *rows))
