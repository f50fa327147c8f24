#pragma once

// Threads of a block: two warps, or one wavefront of 64.
#define THREADS 64
