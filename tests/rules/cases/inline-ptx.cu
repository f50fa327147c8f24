__device__ unsigned a(unsigned x, unsigned y) {
    unsigned r, s;
    asm volatile("" : "+r"(x) : "l"(y) : "memory");
    asm("" ::: "memory");
    asm("mov.u32 %0, %%laneid;" : "=r"(r));
    asm("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(x /* low */), "r"(y));
    asm("addc.u32 %0, %1, 0;" : "=r"(s) : "r"(y));
    asm("bfe.u32 %0, %1, 8, 8;" : "=r"(r) : "r"(x // the low byte
        ));
    asm("tcgen05.alloc.b32 %0;" : "=r"(r));
    auto f = [&](int k) mutable -> int { int q; asm("mov.u32 %0, %1;" : "=r"(q) : "r"(k)); return q; };
    auto g = [=] { asm volatile("exit;"); };
    g();
    return r + s + f(3);
}
asm(".globl here");
__device__ unsigned lone(unsigned x) { unsigned r; asm("addc.u32 %0, %1, 0;" : "=r"(r) : "r"(x)); return r; }
#define CARRY(r, x) asm("add.cc.u32 %0, %1, 1;" : "=r"(r) : "r"(x))
__device__ void m(unsigned *p) { CARRY(p[0], p[1]); }
