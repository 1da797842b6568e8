"""What all figures share: the style, and drawing to files."""
