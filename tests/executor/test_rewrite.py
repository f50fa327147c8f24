# ruff: noqa: E501 (source and its rewriting, side by side)
"""The rewriter on text as a preprocessor prints it."""

from __future__ import annotations

import pytest

from rocport.executor.rewrite import RewriteError, rewrite


def plain(text: str) -> str:
    return rewrite(text.encode()).text.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void f(){ k<<<g, b>>>(x, 0); }", '::rpx::launch("k", ::rpx::Config(g, b), [=](auto &rpx_0) { k(rpx_0, 0); }, ::rpx::given(x));'),
        ("void f(){ n::k<a, b><<<g, b, 4, s>>>(); }", '::rpx::launch("n::k<a, b>", ::rpx::Config(g, b, 4, s), [=]() { n::k<a, b>(); });'),
        ("void f(){ k<< <g, b>> >(x[1], {1, 2}); }", "[=](auto &rpx_0) { k(rpx_0, {1, 2}); }, ::rpx::given(x[1]));"),
        ("void f(){ this->template k<T><<<1, f(2, 3)>>>(a...); }", "[=](auto &...rpx_all) { this->template k<T>(rpx_all...); }, a...);"),
        ("void f(){ hipLaunchKernelGGL((k<a, b>), g, b, 0, 0, x); }", "::rpx::Config(g, b, 0, 0), [=](auto &rpx_0) { (k<a, b>)(rpx_0); }, ::rpx::given(x));"),
        ("void f(){ hipLaunchKernelGGL(k, dim3(1, 2), dim3(3), 0, 0, m < n, q); }", "{ k(rpx_0, rpx_1); }, ::rpx::given(m < n), ::rpx::given(q));"),
    ],
)  # fmt: skip
def test_a_launch_becomes_a_call(source: str, expected: str) -> None:
    assert expected in plain(source)


@pytest.mark.parametrize(
    "source",
    ['const char *s = "k<<<1, 2>>>(x)";', "std::ostream &operator<< <int>(std::ostream &, int);", "int x = a << b;"],
)
def test_what_only_looks_like_a_launch_stays(source: str) -> None:
    assert plain(source) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("void k(){ __shared__ float s[4]; }", "static thread_local float s[4];"),
        ("void k(){ static __shared__ float s[4]; }", "static thread_local float s[4];"),
        ("void k(){ extern __shared__ float s[]; }", "float *s = reinterpret_cast<float *>(::rpx::dynamic_lds);"),
        ("void k(){ extern __shared__ __attribute__((aligned(16))) char s[]; }", "char *s = reinterpret_cast<char *>(::rpx::dynamic_lds);"),
        ("void k(){ extern __shared__ int s[][8]; }", "int (*s)[8] = reinterpret_cast<int (*)[8]>(::rpx::dynamic_lds);"),
        ("void k(){ extern float __shared__ s[]; }", "float *s = reinterpret_cast<float *>(::rpx::dynamic_lds);"),
        ("void k(){ __shared__ alignas(16) float s[4]; }", "alignas(16) static thread_local float s[4];"),
        ("__device__ int f() { return clock(); }", "return ::rpx::device_clock();"),
        ("int f() { return clock(); }", "return clock();"),
        ("extern __shared__ int s[];", "static ::rpx::DynamicArray<int> s;"),
        ("static __forceinline__ __device__ inline int f();", "static   inline int f();"),
        ("__device__ __forceinline__ int f();", " inline int f();"),
        ("auto f = [] __device__ (int i) { return i; };", "auto f = []  (int i)"),
        ('void f(){ asm volatile("s_waitcnt vmcnt(0)"); }', '__asm__ volatile("" ::: "memory");'),
        ('void f(){ asm("v_add_f32 %0, %1, %2" : "=v"(a) : "v"(b), "v"(c)); }', "(void)((a) = (b) + (c));"),
        ('void f(){ asm volatile("v_mov_b32_e32 %0, %1" : "=v"(a[i]) : "v"(b[j])); }', "(void)((a[i]) = (b[j]));"),
        ('void f(){ asm("v_fma_f32 %0, %1, %2, %0" : "+v"(a) : "v"(b), "v"(c)); }', "::rpx::unsupported("),
        ('void f(){ asm volatile("rdtsc" : "=a"(a)); }', '"rdtsc"'),
    ],
)  # fmt: skip
def test_declarations_become_plain_ones(source: str, expected: str) -> None:
    assert expected in plain(source)


def test_a_host_function_gives_way_to_the_device_function_of_its_name() -> None:
    text = plain(
        "struct U { static __host__ int w() { return 1; } static __device__ constexpr int w() { return 2; } };"
    )
    assert "return 1" not in text and "return 2" in text
    assert "return 1" in plain("__host__ int w() { return 1; } __device__ int w(int) { return 2; }")


def test_regions_stand_around_what_can_reach_a_wave_operation() -> None:
    text = plain(
        "__device__ int h(int v) { return __shfl(v, 0); } __device__ int f(int v) { for (int i = 0; i < v; ++i) if (i) v += h(v); else v = 1; return v; }"
    )
    assert (
        "{ ::rpx::Loop rpx_loop_1; for (int i = 0; i < v; ++i) { ::rpx::Body rpx_body(rpx_loop_1); { ::rpx::Join rpx_join; if (i) { ::rpx::Region rpx_region(1); v += h(v); }"
        in text
    )
    assert "Region" not in plain("__device__ int f(int v) { for (int i = 0; i < v; ++i) if (i) v += 2; return v; }")
    text = plain("__device__ void f(int v) { do { v = __shfl(v, 1); } while (v); switch (v) { case 1: __any(v); } }")
    assert "do { ::rpx::Body rpx_body(rpx_loop_1); {" in text
    assert "{ ::rpx::Region rpx_region(1); switch (v) { case 1: __any(v); } }" in text


def test_a_constant_expression_has_no_regions() -> None:
    """C++17 allows it no variable with a destructor: a `fill` beside a kernel that shuffles stopped the program."""
    loop = "for (int i = 0; i < n; ++i) { last = __shfl(last, 0); }"
    assert "::rpx::Loop" in plain(f"__device__ void last(int n) {{ int last; {loop} }}")
    assert "::rpx::Loop" not in plain(f"__device__ constexpr void last(int n) {{ int last = 0; {loop} }}")


@pytest.mark.parametrize(
    ("source", "loops"),
    [
        ("__global__ void k(int *p) { p[threadIdx.x] = 1; }", 1),
        ("__global__ void k(int *p) { __syncthreads(); }", 0),
        ("__device__ int f() { return threadIdx.x; } __global__ void k(int *p) { p[f()] = 1; }", 0),
        ("__device__ int f() { return __any(1); } __device__ int g() { return f(); } __global__ void k() { g(); }", 0),
        ("__device__ int f(int v) { return v; } __global__ void k(int *p) { p[f(threadIdx.x)] = 1; }", 1),
        ("struct F { __device__ void operator()() { threadIdx; } }; __global__ void k(F f) { f(); }", 0),
        ("struct F { int v; __device__ F() : v(threadIdx.x) {} }; __global__ void k() { F f; }", 0),
        ("void h() { auto f = [=] __device__ () { return threadIdx.x; }; } __global__ void k(int *p) { *p = 1; }", 0),
        ("__global__ void k(volatile int *p) { while (!*p) {} }", 0),
        ("__global__ void k(int *p) { volatile int *q = p; while (!*q) {} }", 0),
        ("__global__ void k(int *p) { auto f = [p](int i) { return i; }; p[threadIdx.x] = f(1); }", 0),
        ("__global__ void k(int *p) { while (atomicCAS(p, 0, 1)) {} }", 0),
    ],
)  # fmt: skip
def test_a_kernel_whose_threads_never_meet_loops_over_its_block(source: str, loops: int) -> None:
    assert plain(source).count("::rpx::Rows") == loops


def test_lines_stay_what_they_were() -> None:
    text = plain('# 1 "a.hip"\nvoid f() {\n  k<<<1,\n  2>>>(x);\n  g();\n}\n')
    before, _, after = text.partition('# 3 "a.hip"\n')  # the line of the launch's closing parenthesis
    assert "launch" in before and after.startswith(";\n  g();")


@pytest.mark.parametrize(
    "before", ['auto s = R"(\n#define X 1)";', 'auto s = u8R"x(\n#define X ")x";', 'asm("" : "=R"(x));\n# 2 "a.hip"', "char c = '\"';"]
)  # fmt: skip
def test_code_between_raw_strings_is_code(before: str) -> None:
    text = plain(f'{before}\nvoid f() {{ __shared__ int s; k<<<1, 2>>>(); }}\nauto t = R"(\n# 7)";\n')
    assert "static thread_local int s;" in text and "::rpx::launch" in text
    assert before in text and text.endswith('R"(\n# 7)";\n')


def test_system_headers_keep_their_text() -> None:
    source = (
        '# 1 "a.hip"\n# 1 "/usr/include/x" 1 3\nint a = b<<<c; __shared__ int q;\n# 2 "a.hip" 2\n__shared__ int s;\n'
    )
    text = plain(source)
    assert "int a = b<<<c; __shared__ int q;" in text
    assert "static thread_local int s;" in text


def test_a_launch_that_cannot_be_read_names_its_place() -> None:
    with pytest.raises(RewriteError, match=r"a\.hip:2"):
        rewrite(b'# 1 "a.hip"\n\nvoid f() { x> <<<1, 2>>>(y); }\n')
