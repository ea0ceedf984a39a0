#!/usr/bin/env python3
"""The counts of instructions, held to functions of known counts, and to callgrind on the program that does not count, with each
compiler that is installed; and the kinds of single instructions.

usage: counts_test.py ROOT LIBRARY_OF_COUNTING LIBRARY_OF_KITH COMPILER...
"""
import re
import shutil
import subprocess
import sys
import tempfile

MEASURED = ("measured_vectors", "measured_branches", "measured_sort")


def output_of(*command):
    return subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)


def instructions_of(program, function):
    """By callgrind, of what the function does, with what it calls: all, loads, stores."""
    said = output_of("valgrind", "--tool=callgrind", "--cache-sim=yes", "--callgrind-out-file=/dev/null", f"--toggle-collect={function}",
                     program).stderr
    return [int(n) for n in re.search(r"Collected : (\d+) (\d+) (\d+)", said).groups()]


def compared(compiler, level, root, libraries, folder):
    source, plain, counting = f"{root}/tests/counting/known.cpp", folder + "/plain", folder + "/counting"
    command = [compiler, "-std=c++20", *level.split()]
    output_of(*command, source, "-o", plain)
    assembler = [f"-B{root}/src/counting", *(["-fno-integrated-as"] if "clang" in compiler else [])]
    output_of(*command, *assembler, "-DKITH_COUNTED", "-c", source, "-o", counting + ".o")
    output_of(compiler, counting + ".o", "-Wl,--whole-archive", libraries[0], "-Wl,--no-whole-archive", libraries[1], "-pthread", "-ldl", "-o", counting)
    here, there = output_of(counting).stdout, output_of(plain).stdout
    wrong = re.findall(r".*wrong.*", here)
    results = re.sub(r"counted .*\n", "", here)
    if results != there:
        wrong.append(f"other results: {results}, not {there}")
    errors = []
    for function in MEASURED if shutil.which("valgrind") else ():
        counted = [int(n) for n in re.search(rf"counted {function} (.*)", here)[1].split()]
        by_callgrind = instructions_of(plain, function)
        stores = by_callgrind[2]
        for what, n, expected in zip(("instructions", "loads", "stores"), counted, by_callgrind):
            errors.append(f"{function} {what} {100 * (n / expected - 1) if expected else 0:+.2f} %")
            # An alignment is one instruction here, and may be none; what surrounds the function is a few moves and calls. Callgrind
            # counts what reads and writes a variable, as most of the code at -O0 does, as stores alone.
            most = expected if what != "loads" or level != "-O0" else expected + stores
            if n < 0.95 * expected - 60 or n > 1.05 * most + 60:
                wrong.append(f"{function}: {n} {what}, by callgrind {expected}")
    print(f"{compiler} {level}: {', '.join(errors + wrong)}")
    return not wrong


# Of single instructions, those that read or write memory otherwise than their operands say at first sight.
KINDS = (
    ("movq %rax, (%rdi)", "stores"), ("movq (%rdi), %rax", "loads"), ("movq %rax, %rbx", ""), ("mov %fs:40, %rax", "loads"),
    ("movl counter(%rip), %eax", "loads"), ("movl $1, counter", "stores"), ("incq (%rdi)", "loads stores"), ("cmpl $3, (%rdi)", "loads"),
    ("imulq (%rdi), %rax", "loads"), ("idivl (%rdi)", "loads"), ("sete (%rdi)", "stores"), ("leaq 8(%rdi,%rsi,4), %rax", ""),
    ("nopw 0(%rax,%rax,1)", ""), ("prefetcht0 (%rax)", ""), ("pushq %rbx", "stores"), ("pushq (%rbx)", "loads stores"), ("popq %rbx", "loads"),
    ("popcntq (%rdi), %rax", "loads"), ("leave", "loads"), ("ret", "branches loads"), ("call f", "branches stores"),
    ("call *8(%rax)", "branches loads stores"), ("jmp *%rax", "branches"), ("jmp *table(,%rax,8)", "branches loads"), ("jne .L3", "branches"),
    ("movsq", "loads stores"), ("stosq", "stores"), ("movsbl (%rdi), %eax", "loads"), ("xaddl %eax, (%rdi)", "loads stores"),
    ("cmpxchgq %rdx, (%rdi)", "loads stores"), ("movsd (%rdi), %xmm0", "loads"), ("movapd %xmm0, (%rdi)", "stores"),
    ("addsd (%rdi), %xmm0", "loads floating_point"), ("ucomisd (%rdi), %xmm0", "loads floating_point"),
    ("cvtsi2sdq (%rdi), %xmm0", "loads floating_point"), ("vfmadd231pd (%rdi), %ymm1, %ymm2", "loads floating_point vector"),
    ("mulps %xmm1, %xmm0", "floating_point vector"), ("paddd %xmm1, %xmm0", "vector"), ("pxor %xmm0, %xmm0", ""),
    ("vpxor %xmm1, %xmm1, %xmm1", ""), ("vxorps %ymm2, %ymm1, %ymm0", "vector"), ("vmovups %ymm0, (%rdi)", "stores"),
    ("vextracti128 $1, %ymm0, (%rdi)", "stores vector"), ("vmovapd %ymm0, %ymm1", ""), ("vaddpd {rn-sae}, %zmm1, %zmm2, %zmm0", "floating_point vector"),
    ("faddl (%rdi)", "loads floating_point"), ("fstpl (%rdi)", "stores"), ("fldl (%rdi)", "loads"), ("fucomip %st(1), %st", "floating_point"),
    ("pextq %rax, %rbx, %rcx", ""), ("pause", ""), ("syscall", ""),
)


def kinds_are_known(root):
    sys.dont_write_bytecode = True
    sys.path.insert(0, f"{root}/src/counting")
    import instruction_kinds  # the folder is not that of a package
    wrong = []
    for text, expected in KINDS:
        name, _, operands = text.partition(" ")
        expected = set(expected.split())
        found = instruction_kinds.kinds_of(name, operands)
        if found != expected:
            wrong.append(f"{text}: {sorted(found)}, expected {sorted(expected)}")
    print(f"kinds of {len(KINDS)} instructions: {wrong or 'as expected'}")
    return not wrong


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        print("valgrind is not installed (Debian package valgrind): nothing is compared with callgrind")
    good = kinds_are_known(sys.argv[1])
    for compiler in sys.argv[4:]:
        for level in ("-O0", "-O2 -g", "-O3 -fPIE -mavx2 -pipe"):
            with tempfile.TemporaryDirectory() as folder:
                good = compared(compiler, level, sys.argv[1], sys.argv[2:4], folder) and good
    sys.exit(not good)


main()
