"""The embedded font has what browsers show of formulas, and can stretch brackets, roots and fractions."""

from fontTools.ttLib import TTFont

import math_font


def test_the_font_has_all_characters_of_the_formulas_and_the_table_of_a_mathematical_font():
    font = TTFont(math_font.FONT)
    missing = {char for char in math_font.characters() if ord(char) not in font.getBestCmap() and not char.isspace()}
    assert not missing and font["MATH"].table.MathVariants.VertGlyphCount > 10
