#!/usr/bin/env python3
"""Derives the constants of both curves from their family parameters, independently of the C++ code.

Writes src/curve/derived_constants.h, which derived_constants_test.cpp compares with what the C++
code derived for itself. With --check nothing is written: exit 1 when the file differs. On the way
it proves, for these very numbers, the divisibility facts that subgroup.cpp rests on.

Only Python's standard library is used.
"""

import argparse
import math
import pathlib
import sys

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "src/curve/derived_constants.h"
WIDTH = 100


class Fp2:
    """Fp[u] / (u^2 + 1)."""

    def __init__(self, p, c0, c1):
        self.p, self.c0, self.c1 = p, c0 % p, c1 % p

    def __mul__(self, other):
        return Fp2(self.p, self.c0 * other.c0 - self.c1 * other.c1,
                   self.c0 * other.c1 + self.c1 * other.c0)

    def __pow__(self, exponent):
        out, base = Fp2(self.p, 1, 0), self
        while exponent:
            if exponent & 1:
                out = out * base
            base, exponent = base * base, exponent >> 1
        return out

    def is_one(self):
        return self.c0 == 1 and self.c1 == 0


class Curve:
    """A curve of a family: p, r, trace t, xi with its tower, and the twist's order."""

    def __init__(self, name, p, r, t, xi, generator_p, generator_r):
        self.name, self.p, self.r, self.t = name, p, r, t
        self.xi = Fp2(p, *xi)
        self.generator_p, self.generator_r = generator_p, generator_r
        assert all(is_probable_prime(n) for n in (p, r))
        assert (p + 1 - t) % r == 0 and p % 4 == 3 and p % 6 == 1
        self.cofactor_g1 = (p + 1 - t) // r
        self.twist_order = twist_order(p, t, r)
        self.cofactor_g2 = self.twist_order // r
        self.hard_exponent, rest = divmod(p**4 - p**2 + 1, r)
        assert rest == 0
        # Neither a square nor a cube in Fp2, so Fp12 = Fp2[w] / (w^6 - xi) is a field.
        for q in (2, 3):
            assert not (self.xi ** ((p * p - 1) // q)).is_one()
        for generator, modulus in ((generator_p, p), (generator_r, r)):
            for q in small_prime_factors(modulus - 1):
                assert pow(generator, (modulus - 1) // q, modulus) != 1


def is_probable_prime(n):
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(base, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def small_prime_factors(n, limit=1 << 16):
    q = 2
    while q < limit:
        if n % q == 0:
            yield q
            while n % q == 0:
                n //= q
        q += 1


def twist_order(p, t, r):
    """The order, divisible by r, of the sextic twist over Fp2 (Hess, Smart, Vercauteren 2006)."""
    t2 = t * t - 2 * p
    f2, rest = divmod(4 * p * p - t2 * t2, 3)
    f = math.isqrt(f2)
    assert rest == 0 and f * f == f2
    orders = [p * p + 1 - (t2 + s * 3 * f) // 2 for s in (1, -1)]
    (order,) = [n for n in orders if n % r == 0]
    return order


def norm(curve, coefficients):
    """The norm of a polynomial in psi, modulo psi^2 - t psi + p: a multiple of what it kills."""
    c = list(coefficients)
    while len(c) > 2:
        top = c.pop()
        c[-1] += top * curve.t
        c[-2] -= top * curve.p
    a, b = c
    return a * a + a * b * curve.t + b * b * curve.p


def prove_subgroup_checks(bls, z, bn, x):
    # phi^2 + phi + 1 = 0: the norm of a + b phi is a^2 - a b + b^2; here a = z^2, b = 1.
    assert z**4 - z**2 + 1 == bls.r
    assert math.gcd(norm(bls, (-z, 1)), bls.twist_order) == bls.r
    assert math.gcd(norm(bn, (x + 1, x, x, -2 * x)), bn.twist_order) == bn.r
    assert bn.cofactor_g1 == 1
    # On the subgroup psi is t - 1, which fulfils each identity.
    assert (bls.t - 1 - z) % bls.r == 0
    psi = bn.t - 1
    assert (x + 1 + x * psi + x * psi**2 - 2 * x * psi**3) % bn.r == 0


def prove_final_exponents(bls, z, bn, x):
    p = bls.p
    assert (z - 1) ** 2 * (z + p) * (z**2 + p**2 - 1) + 3 == 3 * bls.hard_exponent
    p = bn.p
    digits = (1 + 6 * x + 12 * x**2 + 12 * x**3, 4 * x + 6 * x**2 + 12 * x**3,
              6 * x + 6 * x**2 + 12 * x**3, -1 + 4 * x + 6 * x**2 + 12 * x**3)
    total = sum(d * p**i for i, d in enumerate(digits))
    factor = 2 * x * (6 * x**2 + 3 * x + 1)
    assert total == factor * bn.hard_exponent and math.gcd(factor, bn.r) == 1


def constant(name, value):
    """A C++ string constant, hex digits, broken to the line width."""
    digits = f"{value:x}"
    line = f'inline constexpr std::string_view {name} = "{digits}";'
    if len(line) <= WIDTH:
        return [line]
    room = WIDTH - 7
    parts = [digits[i:i + room] for i in range(0, len(digits), room)]
    lines = [f"inline constexpr std::string_view {name} ="] + [f'    "{part}"' for part in parts]
    lines[-1] += ";"
    return lines


def curve_lines(curve, namespace):
    lines = ["", f"namespace {namespace} {{"]
    for prefix, modulus, generator, limbs in (
            ("kFp", curve.p, curve.generator_p, 6 if curve.p.bit_length() > 256 else 4),
            ("kFr", curve.r, curve.generator_r, 4)):
        two_adicity = ((modulus - 1) & -(modulus - 1)).bit_length() - 1
        root = pow(generator, (modulus - 1) >> two_adicity, modulus)
        lines += constant(f"{prefix}Modulus", modulus)
        lines += constant(f"{prefix}R", (1 << 64 * limbs) % modulus)
        lines += constant(f"{prefix}RSquared", (1 << 128 * limbs) % modulus)
        lines += constant(f"{prefix}NegatedInverse", -pow(modulus, -1, 1 << 64) % (1 << 64))
        lines += constant(f"{prefix}TwoAdicity", two_adicity)
        lines += constant(f"{prefix}TwoAdicRoot", root)
    lines += constant("kCubeRootOfOne", pow(curve.generator_p, (curve.p - 1) // 3, curve.p))
    gamma = curve.xi ** ((curve.p - 1) // 6)
    for i in range(1, 6):
        power = gamma**i
        lines += constant(f"kFrobenius{i}C0", power.c0) + constant(f"kFrobenius{i}C1", power.c1)
    lines += constant("kCofactorG1", curve.cofactor_g1)
    lines += constant("kCofactorG2", curve.cofactor_g2)
    lines += constant("kHardExponent", curve.hard_exponent)
    return lines + [f"}}  // namespace {namespace}"]


def render():
    z = -0xD201000000010000
    r = z**4 - z**2 + 1
    bls = Curve("BLS12-381", (z - 1) ** 2 * r // 3 + z, r, z + 1, (1, 1), 2, 7)
    x = 4965661367192848881
    p = 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1
    bn = Curve("BN254", p, p - 6 * x**2, 6 * x**2 + 1, (9, 1), 3, 5)
    prove_subgroup_checks(bls, z, bn, x)
    prove_final_exponents(bls, z, bn, x)
    lines = [
        "// Written by tools/derive_constants.py; do not edit.",
        "//",
        "// What both curves' constants must be, found without the C++ code. Hex integers, not in",
        "// Montgomery form. kHardExponent is (p^4 - p^2 + 1) / r. For tests.",
        "#pragma once",
        "",
        "#include <string_view>",
        "",
        "namespace cuzk::curve::derived {",
    ]
    lines += curve_lines(bls, "bls12_381") + curve_lines(bn, "bn254")
    return "\n".join(lines + ["", "}  // namespace cuzk::curve::derived", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    text = render()
    if parser.parse_args().check:
        if OUTPUT.exists() and OUTPUT.read_text() == text:
            return 0
        print(f"{OUTPUT} is not what tools/derive_constants.py derives; run it", file=sys.stderr)
        return 1
    OUTPUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
