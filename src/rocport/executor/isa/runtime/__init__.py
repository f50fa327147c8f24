# SPDX-License-Identifier: Apache-2.0
"""ROCm as an application sees it, over the ISA executor: the HIP runtime library, the compiler driver, the ROCm tree.

`library` builds libamdhip64.so and its companions, `hipcc` is the compiler driver, `tree` lays out the folder that
build systems take for a ROCm installation, and `isa` is the executor behind `rocport run --executor isa`.
"""
