"""Random changes of the bytes of a file."""

WORDS = (
    *(b"nan", b"-1", b"1e999", b"0x", b"null", b"abc", b"[", b"]", b"{", b"}", b"[]", b"{}", b": ", b"- ", b","),
    *(b"'", b'"', b"#", b"&a ", b"*a", b"<<: ", b"? ", b"|\n", b"%YAML", b"---\n", b"...\n", b"!!python/object:os "),
    *(b"~", b"@", b"`", b"\n", b"\r", b"\t", b"  ", b"\x00", b"\xff"),
)


def damaged(rng, content):
    """The content of a file with one to four changes."""
    found = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        at, change = rng.randrange(len(found) + 1), rng.randrange(7)
        if change == 0 and found:
            found[at % len(found)] ^= 1 << rng.randrange(8)
        elif change == 1:
            del found[at:]
        elif change == 2:
            del found[at : at + rng.randint(1, 200)]
        elif change == 3:
            found[at:at] = found[at : at + rng.randint(1, 200)]
        elif change == 4:
            found[at : at + rng.randint(0, 5)] = rng.choice(WORDS)
        elif change == 5:
            found[at:at] = rng.choice(WORDS) * rng.choice([2, 30, 3000])
        else:
            found[at:at] = rng.randbytes(rng.randint(1, 20))
    return bytes(found)
