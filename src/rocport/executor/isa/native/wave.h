// SPDX-License-Identifier: Apache-2.0
// The state of one wave and the shape of one step of its program. Private to the engine and the instruction forms.
#ifndef ROCPORT_ISA_WAVE_H
#define ROCPORT_ISA_WAVE_H
#include <stdint.h>

#include "engine.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned __int128 u128;
typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;

enum {
  RP_VCC = 106, RP_M0 = 124, RP_EXEC = 126,
  RP_NULL = 140,    // where writes to NULL go
  RP_SGPRS = 160,
  RP_ROWS = 256,    // rows of VGPRs; those of AGPRs follow
  RP_OPERANDS = 12,
};

// What an op does that the engine must know of.
enum rp_op_kind {
  RP_PLAIN = 0,
  RP_LOAD_VECTOR = 1,  // counted by vmcnt (loadcnt); writes o[RP_OPERANDS - 1] as first row, aux rows
  RP_LOAD_LDS = 2,     // counted by lgkmcnt (dscnt)
  RP_LOAD_SCALAR = 3,  // counted by lgkmcnt (kmcnt); writes SGPRs
  RP_WAIT = 4,         // o[0] = vmcnt, o[1] = lgkmcnt that may stay outstanding, o[2] = kmcnt
  RP_STORE = 5,
};

typedef const rp_op *(*rp_fn)(rp_wave *, const rp_op *);

// One instruction: its form, where it stands, and what its operands are (rows, SGPR indices, immediates).
struct rp_op {
  rp_fn fn;
  u32 pc;
  u16 kind, aux;
  u32 o[RP_OPERANDS];
};

struct rp_group;

// The accesses of one op while it runs, for launches that are watched: where, how many bytes, what was there before.
struct rp_access {
  u8 *place;
  u32 bytes;
  u8 before[16];
};
struct rp_watch {
  u32 count;
  rp_access seen[256];
};

struct rp_wave {
  u32 s[RP_SGPRS];
  u32 scc, mode;
  u32 *v;           // row r of lane l: v[r * wave_size + l]; AGPRs from row RP_ROWS on
  u8 *lds, *scratch;
  u32 lds_bytes, scratch_bytes;  // scratch: of one lane, linear
  u64 image;        // address of code address 0
  const rp_op *ip;  // the next op; while running, the one that runs
  u64 executed, slice;
  u32 index, stop, message, barrier;
  u32 csr, csr_double;  // MXCSR for f32 forms and for f64 forms
  const rp_kernel_info *kernel;
  rp_group *group;
  u64 address;      // last address that a memory op computed for `lane`
  u32 lane, hwid;
  u64 clock;
  const rp_launch *launch;
  rp_watch *watch;  // null where nobody watches
  u32 *signals;     // waves of the workgroup that signalled its barrier since it was last complete
};

static inline const rp_op *rp_stop_at(rp_wave *w, const rp_op *next, u32 why) {
  w->ip = next;
  w->stop = why;
  return 0;
}

#endif
