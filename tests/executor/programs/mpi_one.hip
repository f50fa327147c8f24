// An MPI program of one process: collectives copy, messages go to itself, shifts at the rim go nowhere.
#include <hip/hip_runtime.h>
#include <mpi.h>
#include <cstdio>

__global__ void twice(double *p) { p[threadIdx.x] *= 2; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *d, h[4] = {1, 2, 3, 4}, got[4] = {}, sum[4] = {};
  hipMalloc(&d, sizeof h);
  hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice);
  twice<<<1, 4>>>(d);
  hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Irecv(got, 4, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(h, 3, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, &requests[1]);
  MPI_Irecv(got + 3, 1, MPI_DOUBLE, MPI_PROC_NULL, 7, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(3, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_DOUBLE, &count);
  MPI_Allreduce(h, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  bool ok = rank == 0 && size == 1 && count == 3 && got[2] == 6 && got[3] == 0 && sum[3] == 8;
  MPI_Finalize();
  std::puts(ok ? "PASS" : "FAIL");
}
