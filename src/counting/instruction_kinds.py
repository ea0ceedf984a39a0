"""The kinds of an x86-64 instruction, from its text in AT&T syntax.

Each kind has a counter (kith::counters_of_program). An instruction may be of several: `vaddpd (%rax), %ymm0, %ymm1` loads, and
computes with floating-point numbers in a vector.

loads, stores    It reads or writes memory: through an operand, or as push, pop, call, ret and string operations do. Addresses
                 that are only computed (lea) or hinted at (prefetch) are neither. A repeated string operation is one.
branches         Jumps, calls and returns.
floating_point   It computes with, compares or converts floating-point numbers: one or a vector of them.
vector           It works on all elements of a vector register: arithmetic, logic, shuffles; not a plain move of the register,
                 and not one that clears it.
"""

import functools
import re

KINDS = ("loads", "stores", "branches", "floating_point", "vector")

JUMP = re.compile(r"(?:j\w+|loop\w*)(?:,p[nt])?|ret\w?")
CALL = re.compile(r"call\w?")
NO_ACCESS = re.compile(r"lea[lwq]?|nop\w?|endbr\d+|prefetch\w*|clflush\w*|clwb")
# What only reads its last operand, and what only writes it. All others with more than one operand read and write it.
READS = re.compile(r"(?:cmp|test|bt)[bwlq]?|i?mul[bwlq]?|i?div[bwlq]?|v?p?u?comi\w+|v?p?test\w?"
                   r"|fi?(?:ld|add|sub|mul|div|com|ucom)\w*|v?ldmxcsr")
WRITES = re.compile(r"[kv]?mov\w*|set\w+|v?p?extr\w+|v?extract\w+|vcvtps2ph|v(?:p?mask)mov\w+|vp(?:mov|compress|scatter)\w+"
                    r"|v(?:compress|scatter)\w+|fi?st\w*|fn?st\w+|v?stmxcsr")
STRING = re.compile(r"(movs|stos|lods|scas|cmps)[bwlq]?")
OF_STRING = {"movs": {"loads", "stores"}, "stos": {"stores"}, "lods": {"loads"}, "scas": {"loads"}, "cmps": {"loads"}}

FLOATING_POINT = re.compile(
    r"v?(?:add|sub|mul|div|min|max|sqrt|rsqrt\d*|rcp\d*|cmp\w*|u?comi|round|rndscale|reduce|range|scalef|getexp|getmant|hadd|hsub"
    r"|addsub|dp|fn?m(?:add|sub)\w*)[sp][sdh]|v?cvt\w+"
    r"|fi?(?:add|sub|mul|div)r?[pls]*|fu?comi?\w*|fic\w+"
    r"|f(?:abs|chs|sqrt|sin|cos|sincos|ptan|patan|prem1?|rndint|scale|2xm1|yl2xp?1?|tst|xam)")
PACKED = re.compile(r"(?!v?mov|v?cvt\w+2s[sdi])\w+p[sdh]|v?p(?!ush|op|refetch|ause|ext[lq]?$|dep[lq]?$)\w+|v?cvt\w*p[sdh]\w*"
                    r"|v(?:broadcast|insert|extract|perm|shuf|align)\w+")
REGISTER = re.compile(r"%[xyz]mm\d+")


def operands_of(text):
    """The operands, at the commas that are in no parentheses."""
    return [o.strip() for o in re.split(r",(?![^(]*\))", text)] if text else []


def is_memory(operand):
    return operand[0] not in "%${" or ":" in operand


@functools.lru_cache(maxsize=65536)
def kinds_of(name, text):
    """The kinds of an instruction, by its name without prefixes and the text of its operands."""
    kinds, operands = set(), operands_of(text)
    jumps, calls = JUMP.fullmatch(name), CALL.fullmatch(name)
    if jumps or calls:
        kinds.add("branches")
        if text.startswith("*") and is_memory(text[1:]) or name.startswith("ret"):
            kinds.add("loads")
        if calls:
            kinds.add("stores")
        return kinds
    if (string := STRING.fullmatch(name)) and not any(REGISTER.match(o) for o in operands):
        return OF_STRING[string[1]]
    if name.startswith("push"):
        kinds.add("stores")
        if operands and is_memory(operands[0]):
            kinds.add("loads")
    elif name.startswith("pop") and not name.startswith("popcnt"):
        kinds.add("loads")
        if operands and is_memory(operands[0]):
            kinds.add("stores")
    elif name in ("leave", "leaveq"):
        kinds.add("loads")
    elif operands and not NO_ACCESS.fullmatch(name):
        if any(is_memory(o) for o in operands[:-1]):
            kinds.add("loads")
        if is_memory(operands[-1]):
            only_read, only_written = READS.fullmatch(name), WRITES.fullmatch(name)
            kinds |= {"loads"} if only_read and not only_written else {"stores"} if only_written else {"loads", "stores"}
    if FLOATING_POINT.fullmatch(name):
        kinds.add("floating_point")
    registers = [o for o in operands if REGISTER.match(o)]
    clears = len(registers) == len(operands) and len(set(registers)) == 1 and "xor" in name
    if registers and not clears and PACKED.fullmatch(name):
        kinds.add("vector")
    return kinds
