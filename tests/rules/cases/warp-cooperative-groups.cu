#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "cooperative_groups/scan.h"
#include <cooperative_groups_own.h>
namespace cg = cooperative_groups;
__global__ void k(int *p) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    auto small = cg::tiled_partition<8>(block);
    auto wide = cg::tiled_partition<64>(block);
    cg::thread_block_tile<128> wider = cg::tiled_partition<128>(block);
    cg::thread_block_tile<32, cg::thread_block> typed = tile;
    auto active = cg::coalesced_threads();
    auto parts = cg::labeled_partition(tile, 3);
    auto two = cg::binary_partition(active, true);
    auto dynamic = cg::tiled_partition(block, 32);
    auto cluster = cg::this_cluster();
    cg::memcpy_async(block, p, p, 4);
    tile.sync();
}
