"""Formulas of the site as MathML; mkdocs leaves those in GitHub's syntax as code."""

import html
import re

from latex2mathml.converter import convert

INLINE = re.compile(r"\$<code>(.*?)</code>\$", re.DOTALL)
BLOCK = re.compile(r'<pre><code class="language-math">(.*?)</code></pre>', re.DOTALL)


def on_page_content(content, **_):
    content = BLOCK.sub(lambda found: convert(html.unescape(found[1]), display="block"), content)
    return INLINE.sub(lambda found: convert(html.unescape(found[1])), content)
