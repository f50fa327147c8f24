# SPDX-License-Identifier: Apache-2.0
"""Pseudo-code of our own where AMD's text is loose, wrong, or slow to run; a test covers each group.

Written in the same language, with the functions of native/lanes.h.
"""

from __future__ import annotations


def _texts() -> dict[str, str]:
    found: dict[str, str] = {}
    for width in (16, 32, 64):
        f = f"f{width}"
        # The texts compare -0 with +0 by value, and ask for signalling NaNs after a conversion that quiets them.
        for name, function in (("MIN", "fmin"), ("MAX", "fmax")):
            for suffix in ("", "_NUM"):
                found[f"V_{name}{suffix}_F{width}"] = f"D0.{f} = {function}(S0.{f}, S1.{f})"
                found[f"S_{name}{suffix}_F{width}"] = f"D0.{f} = {function}(S0.{f}, S1.{f})"
                found[f"V_{name}3{suffix}_F{width}"] = f"D0.{f} = {function}({function}(S0.{f}, S1.{f}), S2.{f})"
        for name in ("MINIMUM", "MAXIMUM"):
            low = name.lower()
            found[f"V_{name}_F{width}"] = f"D0.{f} = {low}(S0.{f}, S1.{f})"
            found[f"S_{name}_F{width}"] = f"D0.{f} = {low}(S0.{f}, S1.{f})"
            found[f"V_{name}3_F{width}"] = f"D0.{f} = {low}({low}(S0.{f}, S1.{f}), S2.{f})"
        for outer, inner in (("MIN", "MAX"), ("MAX", "MIN")):
            call = f"{'fmin' if outer == 'MIN' else 'fmax'}({'fmin' if inner == 'MIN' else 'fmax'}(S0.{f}, S1.{f}), S2.{f})"
            for suffix in ("", "_NUM"):
                found[f"V_{inner}{outer}{suffix}_F{width}"] = f"D0.{f} = {call}"
        for suffix in ("", "_NUM"):
            found[f"V_MED3{suffix}_F{width}"] = f"D0.{f} = fmed(S0.{f}, S1.{f}, S2.{f})"
        # floor(x + 0.5) rounds 0.49999997 to 1.
        found[f"V_RNDNE_F{width}"] = f"D0.{f} = rndne(S0.{f})"
        found[f"S_RNDNE_F{width}"] = f"D0.{f} = rndne(S0.{f})"
        found[f"V_LDEXP_F{width}"] = f"D0.{f} = ldexp(S0.{f}, {'S1.i16' if width == 16 else 'S1.i32'})"
        found[f"V_RCP_F{width}"] = f"D0.{f} = rcp(S0.{f})"
        found[f"V_RSQ_F{width}"] = f"D0.{f} = rsq(S0.{f})"
        found[f"V_EXP_F{width}"] = f"D0.{f} = exp2(S0.{f})"
        found[f"V_S_RCP_F{width}"] = f"D0.{f} = rcp(S0.{f})"
        found[f"V_S_RSQ_F{width}"] = f"D0.{f} = rsq(S0.{f})"
        found[f"V_S_EXP_F{width}"] = f"D0.{f} = exp2(S0.{f})"
        found[f"V_DIV_FIXUP_F{width}"] = _fixup(f)
    found["V_EXP_LEGACY_F32"] = "D0.f32 = exp2(S0.f32)"
    found["V_LOG_LEGACY_F32"] = "D0.f32 = log2(S0.f32)"
    found["V_RCP_IFLAG_F32"] = "D0.f32 = rcp(S0.f32)"
    found["V_MUL_LEGACY_F32"] = "D0.f32 = legacy_mul(S0.f32, S1.f32)"
    found["V_MUL_DX9_ZERO_F32"] = "D0.f32 = legacy_mul(S0.f32, S1.f32)"
    # The scale undoes what DIV_SCALE did, which depends on the size of the quotient; the text names one constant.
    found["V_DIV_FMAS_F32"] = _fmas("f32", 127, 64)
    found["V_DIV_FMAS_F64"] = _fmas("f64", 1023, 128)
    found["V_CVT_PKRTZ_F16_F32"] = (
        "declare tmp : 32'B; tmp[15 : 0].f16 = f32_to_f16_rtz(S0.f32); tmp[31 : 16].f16 = f32_to_f16_rtz(S1.f32); "
        "D0.b32 = tmp"
    )
    found["V_CVT_PK_RTZ_F16_F32"] = found["V_CVT_PKRTZ_F16_F32"]
    # Loops over bits, as one operation.
    found["V_PERM_B32"] = "D0.u32 = byte_permute(S0.u32, S1.u32, S2.u32)"
    found["V_MBCNT_LO_U32_B32"] = (
        "D0.u32 = S1.u32 + bitCount(64'U(S0.u32 & (laneId.u32 >= 32U ? 0xffffffffU : ((1U << laneId.u32) - 1U))))"
    )
    found["V_MBCNT_HI_U32_B32"] = (
        "D0.u32 = S1.u32 + bitCount(64'U(S0.u32 & (laneId.u32 <= 32U ? 0U : ((1U << (laneId.u32 - 32U)) - 1U))))"
    )
    found["V_BCNT_U32_B32"] = "D0.u32 = S1.u32 + bitCount(64'U(S0.u32))"
    for unit, width in (("S", 32), ("S", 64), ("V", 32)):
        u = f"u{width}"
        for name in (
            f"{unit}_FFBH_U32_B{width}",
            f"{unit}_FLBIT_I32_B{width}",
            f"{unit}_CLZ_I32_U{width}",
            "V_FFBH_U32",
        ):
            found[name] = f"D0.u32 = clz(S0.{'u32' if name == 'V_FFBH_U32' else u})"
        for name in (f"{unit}_FF1_I32_B{width}", f"{unit}_CTZ_I32_B{width}", "V_FFBL_B32"):
            found[name] = f"D0.u32 = ctz(S0.{'u32' if name == 'V_FFBL_B32' else u})"
        found[f"S_BCNT1_I32_B{width}"] = f"D0.u32 = bitCount(64'U(S0.{u})); SCC = D0.u32 != 0U"
        found[f"S_BREV_B{width}"] = f"D0.{u} = S0.{u}[0 : {width - 1}]"
    found["V_CLZ_I32_U32"] = "D0.u32 = clz(S0.u32)"
    found["V_CTZ_I32_B32"] = "D0.u32 = ctz(S0.u32)"
    found["V_BFREV_B32"] = "D0.u32 = S0.u32[0 : 31]"
    found["V_MUL_HI_U32"] = "D0.u32 = 32'U((64'U(S0.u32) * 64'U(S1.u32)) >> 32U)"
    found["V_MUL_HI_I32"] = "D0.i32 = 32'I((64'I(S0.i32) * 64'I(S1.i32)) >> 32U)"
    # A bit indexed by a slice.
    for width in (32, 64):
        for bit in (0, 1):
            index = f"S1.u32[{5 if width == 64 else 4} : 0]"
            found[f"S_BITCMP{bit}_B{width}"] = f"SCC = ((S0.u{width} >> {index}) & {1}U) == {bit}U"
            found[f"S_BITSET{bit}_B{width}"] = (
                f"D0.u{width} = D0.u{width} {'|' if bit else '&'} {'' if bit else '~'}(64'U(1U) << S0.u32[{5 if width == 64 else 4} : 0]).u{width}"
            )
    found["S_BFE_U32"] = (
        "D0.u32 = 32'U((64'U(S0.u32) >> S1[4 : 0].u32) & ((1ULL << S1[22 : 16].u32) - 1ULL)); SCC = D0.u32 != 0U"
    )
    found["S_BFE_U64"] = (
        "D0.u64 = (S0.u64 >> S1[5 : 0].u32) & (S1[22 : 16].u32 >= 64U ? ~0ULL : ((1ULL << S1[22 : 16].u32) - 1ULL)); SCC = D0.u64 != 0ULL"
    )
    for name in (
        "V_MOV_B32",
        "V_ACCVGPR_READ_B32",
        "V_ACCVGPR_WRITE_B32",
        "V_ACCVGPR_READ",
        "V_ACCVGPR_WRITE",
        "V_ACCVGPR_MOV_B32",
    ):
        found[name] = "D0.b32 = S0.b32"
    found["V_MOV_B16"] = "D0.b16 = S0.b16"
    found["V_MOV_B64"] = "D0.b64 = S0.b64"
    for half, convert in (("f16", "f32_to_f16"), ("bf16", "f32_to_bf16")):
        found[f"V_CVT_PK_{half.upper()}_F32"] = (
            f"declare tmp : 32'B; tmp[15 : 0].{half} = {convert}(S0.f32); tmp[31 : 16].{half} = {convert}(S1.f32); "
            "D0.b32 = tmp"
        )
    # The text takes bits 63:32 of a 32-bit view.
    found["V_PK_MOV_B32"] = (
        "declare tmp : 64'B; tmp[31 : 0] = S0.u64[OPSEL[0].u32 * 32U + 31U : OPSEL[0].u32 * 32U]; "
        "tmp[63 : 32] = S1.u64[OPSEL[1].u32 * 32U + 31U : OPSEL[1].u32 * 32U]; D0.b64 = tmp"
    )
    found["V_FMAC_DX9_ZERO_F32"] = (
        "D0.f32 = ((S0.f32 == 0.0) || (S1.f32 == 0.0)) ? D0.f32 : fma(S0.f32, S1.f32, D0.f32)"
    )
    # Carries by comparison: sums of 64 bits and their bit 32 take ten times as long.
    carry, borrow = "VCC.u64[laneId]", "VCC.u64[laneId].u32"
    found["V_ADD_CO_U32"] = f"tmp = S0.u32 + S1.u32; {carry} = tmp < S0.u32; D0.u32 = tmp"
    for name, a, b in (("V_SUB", "S0", "S1"), ("V_SUBREV", "S1", "S0")):
        found[f"{name}_CO_U32"] = f"tmp = {a}.u32 - {b}.u32; {carry} = {b}.u32 > {a}.u32; D0.u32 = tmp"
        for ending in (f"{name}B_CO_U32" if name == "V_SUB" else "V_SUBBREV_CO_U32", f"{name}_CO_CI_U32"):
            found[ending] = (
                f"part = {a}.u32 - {b}.u32; less = {b}.u32 > {a}.u32; tmp = part - {borrow}; "
                f"{carry} = less || (tmp > part); D0.u32 = tmp"
            )
    for name in ("V_ADDC_CO_U32", "V_ADD_CO_CI_U32"):
        found[name] = (
            f"part = S0.u32 + S1.u32; more = part < S0.u32; tmp = part + {borrow}; "
            f"{carry} = more || (tmp < part); D0.u32 = tmp"
        )
    found["V_TRIG_PREOP_F64"] = "D0.f64 = trig_preop(S0.f64, S1.u32)"
    greatest = "340282346638528859811704183484516925440.0F"
    found["V_MULLIT_F32"] = (
        f"if ((S1.f32 == -{greatest}) || (S1.f32 == -INF.f32) || isNAN(S1.f32) || (S2.f32 <= 0.0F) || isNAN(S2.f32)) then "
        f"D0.f32 = -{greatest} else D0.f32 = S0.f32 * S1.f32 endif"
    )
    found["S_CVT_PK_RTZ_F16_F32"] = found["V_CVT_PKRTZ_F16_F32"]
    found["V_MAD_F32"] = "D0.f32 = S0.f32 * S1.f32 + S2.f32"
    found["V_CVT_F32_F64"] = "D0.f32 = f64_to_f32(S0.f64)"
    for name, function in (("FP8", "fp8"), ("BF8", "bf8")):
        found[f"V_CVT_F32_{name}"] = f"D0.f32 = {function}_to_f32(S0.u8)"
        found[f"V_CVT_PK_F32_{name}"] = (
            f"declare tmp : 64'B; tmp[31 : 0].f32 = {function}_to_f32(S0.u8); "
            f"tmp[63 : 32].f32 = {function}_to_f32(S0[15 : 8].u8); D0.b64 = tmp"
        )
        found[f"V_CVT_PK_{name}_F32"] = (
            f"if OPSEL[3].u32 == 0U then D0[15 : 0] = {{ f32_to_{function}(S1.f32), f32_to_{function}(S0.f32) }} "
            f"else D0[31 : 16] = {{ f32_to_{function}(S1.f32), f32_to_{function}(S0.f32) }} endif"
        )
        found[f"V_CVT_SR_{name}_F32"] = (
            f"tmpsr = f32_to_{function}_sr(S0.f32, S1.u32); D0 = set_byte(D0.u32, OPSEL[3 : 2].u32, tmpsr)"
        )
    return found


def _fixup(f: str) -> str:
    return (
        f"sign_out = (sign(S1.{f}) ^ sign(S2.{f})); "
        f"if isNAN(S2.{f}) then D0.{f} = cvtToQuietNAN(S2.{f}) elsif isNAN(S1.{f}) then D0.{f} = cvtToQuietNAN(S1.{f}) "
        f"elsif ((S1.{f} == 0.0) && (S2.{f} == 0.0)) then D0.{f} = NAN.{f} "
        f"elsif ((abs(S1.{f}) == INF.{f}) && (abs(S2.{f}) == INF.{f})) then D0.{f} = NAN.{f} "
        f"elsif ((S1.{f} == 0.0) || (abs(S2.{f}) == INF.{f})) then D0.{f} = sign_out ? -INF.{f} : INF.{f} "
        f"elsif ((abs(S1.{f}) == INF.{f}) || (S2.{f} == 0.0)) then D0.{f} = sign_out ? -0.0 : 0.0 "
        # The quotient over- or underflowed on the way.
        f"elsif isNAN(S0.{f}) then D0.{f} = sign_out ? -INF.{f} : INF.{f} "
        f"else D0.{f} = sign_out ? -abs(S0.{f}) : abs(S0.{f}) endif"
    )


def _fmas(f: str, bias: int, scale: int) -> str:
    fma = f"fma(S0.{f}, S1.{f}, S2.{f})"
    return (
        f"if VCC.u64[laneId] then D0.{f} = ldexp({fma}, exponent(S2.{f}) > {bias} ? {scale} : -{scale}) "
        f"else D0.{f} = {fma} endif"
    )


OVERRIDES = _texts()
