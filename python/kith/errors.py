"""The error for wrong input, and the printing of text from files. For all modules."""

import unicodedata


class KithError(Exception):
    """Wrong input: the message says what is wrong, where, and what was expected."""


def printable(text, most=200):
    """The text with control characters, and those that change the direction of writing, as escapes. At most `most`
    characters of it."""
    kept = str(text)[: most + 1]
    safe = "".join(
        c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") else
        (f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}")
        for c in kept[:most]
    )
    return safe + "..." if len(kept) > most else safe
