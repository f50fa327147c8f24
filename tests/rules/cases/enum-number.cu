#include <cublas_v2.h>
#include <map>
#include <cstdio>
using Op = cublasOperation_t;
typedef cublasOperation_t Trans;
struct Call { cublasOperation_t op; cudaMemcpyKind kind; cudaError_t error; };
int number(cublasOperation_t op) { return op; }
int counted(Call *call, int index) {
    int table[4] = {0, 1, 2, 3};
    int n = table[call->op] + table[index];
    n += call->kind + 1;
    n += static_cast<int>(call->op) + int(call->kind) + (int)call->op;
    n += -(int)call->op;
    return call->error ? n : call[0].op;
}
Op made(int index, cublasStatus_t status) {
    Op op = static_cast<Op>(index);
    Trans trans = (Trans)(index);
    Trans other = Trans(index + 1);
    auto more = cublasOperation_t{CUBLAS_OP_T};
    auto moved = (cudaMemcpyKind)*(&index);
    auto known = (cublasOperation_t)CUBLAS_OP_N;
    auto masked = (cudaMemcpyKind)~index;
    auto read = (cublasOperation_t)table[index].op(3)->member;
    if (op == 0) return op;
    if (CUBLAS_OP_T == 1) return trans;
    if (status == 0 || status != 3) return other;
    return more;
}
int switched(cublasOperation_t op, cudaError_t error) {
    switch (op) {
    case 0: return 1;
    case CUBLAS_OP_T: return 2;
    }
    auto lambda = [](cublasOperation_t value) -> int { return value; };
    fprintf(stderr, "failed with %d\n", error);
    fprintf(stdout, "%d", (int)error);
    fprintf(file, "%d", (int)error);
    printf("%d\n", error);
    return lambda(op);
}
std::map<int, const char *> names = {{CUBLAS_OP_N, "n"}, {CUBLAS_OP_T, "t"}};
std::map<cublasOperation_t, int> keyed = {{CUBLAS_OP_N, 1}};
const char *find(cublasOperation_t op) { return names[op]; }
void copy(void *a, void *b, int kind, size_t n) { cudaMemcpy(a, b, cudaMemcpyKind(kind), n); cudaMemcpy(a, b); }
