// SPDX-License-Identifier: Apache-2.0
// The boundary of the ISA executor: how a runtime library (or Python) opens a translated kernel and launches it.
//
// `python -m rocport.executor.isa translate CODE_OBJECT --target gfx942` writes one shared object a kernel and says in
// JSON where it is; `python -m rocport.executor.isa engine` builds the dispatcher library and says where it is. All
// addresses of a kernel's memory are host addresses: a pointer that the host wrote is the pointer that a kernel reads.
#ifndef ROCPORT_ISA_ENGINE_H
#define ROCPORT_ISA_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RP_ISA_ABI 3

// What the upper 32 bits of a flat address say: LDS and scratch lie behind these apertures.
#define RP_SHARED_APERTURE 0x8001u
#define RP_PRIVATE_APERTURE 0x8002u

struct rp_wave;
struct rp_op;

// Hidden kernel arguments (.value_kind of the metadata, code object version 5). The engine fills those it can compute
// from the launch; pointers come from the runtime in rp_launch.hidden.
enum rp_hidden_kind {
  RP_HIDDEN_NONE = 0,
  RP_HIDDEN_BLOCK_COUNT_X, RP_HIDDEN_BLOCK_COUNT_Y, RP_HIDDEN_BLOCK_COUNT_Z,
  RP_HIDDEN_GROUP_SIZE_X, RP_HIDDEN_GROUP_SIZE_Y, RP_HIDDEN_GROUP_SIZE_Z,
  RP_HIDDEN_REMAINDER_X, RP_HIDDEN_REMAINDER_Y, RP_HIDDEN_REMAINDER_Z,
  RP_HIDDEN_GLOBAL_OFFSET_X, RP_HIDDEN_GLOBAL_OFFSET_Y, RP_HIDDEN_GLOBAL_OFFSET_Z,
  RP_HIDDEN_GRID_DIMS,
  RP_HIDDEN_PRINTF_BUFFER, RP_HIDDEN_HOSTCALL_BUFFER, RP_HIDDEN_MULTIGRID_SYNC_ARG, RP_HIDDEN_HEAP_V1,
  RP_HIDDEN_DEFAULT_QUEUE, RP_HIDDEN_COMPLETION_ACTION,
  RP_HIDDEN_DYNAMIC_LDS_SIZE, RP_HIDDEN_PRIVATE_BASE, RP_HIDDEN_SHARED_BASE, RP_HIDDEN_QUEUE_PTR,
  RP_HIDDEN_KINDS
};

typedef struct rp_hidden {
  uint32_t kind, offset, size;
} rp_hidden;

// What a kernel's shared object exports as `rocport_isa_kernel`.
typedef struct rp_kernel_info {
  uint32_t abi;               // RP_ISA_ABI
  uint32_t wave_size;         // 32 or 64
  const char *name, *target;  // symbol of the kernel; gfx target
  uint32_t sgprs, vgprs, agprs;
  uint32_t lds_bytes;      // static; the launch adds the dynamic part
  uint32_t scratch_bytes;  // private segment of one lane
  uint32_t kernarg_bytes, explicit_bytes;  // the whole kernarg segment; the part before the hidden arguments
  uint32_t max_block;
  uint32_t rsrc1, rsrc2, rsrc3;      // compute_pgm_rsrc of the kernel descriptor
  uint16_t properties, preload;      // kernel_code_properties, kernarg_preload
  uint64_t image_bytes;              // what the loaded code object takes
  uint64_t entry;                    // code address of the first instruction, relative to the image
  const rp_hidden *hidden;
  uint32_t hidden_count;
  uint32_t op_count;
  const struct rp_op *ops;           // the program; ops[i].pc rises
  const char *const *lines;          // "file:line" by op, or NULL without debug information
  const char *const *mnemonics;      // by op
  uint32_t watched;                  // its forms tell of every access
  const char *const *refusals;       // by op: why it is not translated, and what to do, or "". NULL where all are
} rp_kernel_info;

// What rocport_isa_run answers.
enum rp_stop {
  RP_END = 0,        // s_endpgm
  RP_BARRIER = 1,    // waits at s_barrier
  RP_YIELD = 2,      // its slice of instructions is used up; run it again
  RP_TRAP = 3,       // s_trap (an assertion, or __builtin_trap)
  RP_UNSUPPORTED = 4,// an instruction that the executor does not translate
  RP_BAD_JUMP = 5,   // an indirect jump to an address that holds no translated code
  RP_FAULT = 6,      // a memory access outside mapped memory, LDS or scratch
  RP_HANG = 7,       // no progress within the limit
  RP_DIVERGED = 8,   // waves of a workgroup wait at different barriers
  RP_BAD_LAUNCH = 9, // sizes that the kernel or target does not allow
};

// Runs one wave until it stops; exported by every kernel's shared object as well.
int rocport_isa_run(struct rp_wave *wave);

typedef struct rp_error {
  int code;             // enum rp_stop, or -1 for a file that cannot be opened
  uint32_t workgroup[3], wave, lane;
  uint64_t pc;          // relative to the image
  uint64_t address;     // of a fault
  char instruction[128];
  char source[512];     // "file:line" where the code object has debug information
  char text[1024];      // the whole message
} rp_error;

// Called for s_sendmsg and s_sendmsghalt (host calls, device printf). May be NULL.
typedef void (*rp_message_fn)(void *user, uint32_t message, uint32_t m0);

enum rp_flags {
  RP_COOPERATIVE = 1,       // all workgroups are resident at once (grid barriers)
  RP_POISON_MEMORY = 2,     // fill LDS and scratch with `poison` too
  RP_CHECK_WAITS = 4,       // results of loads are `poison` until the s_waitcnt that covers them
  RP_CHECK_DIVERGENCE = 8,  // waves of a workgroup that wait at different s_barrier are an error
  RP_WATCH = 16,            // races and reads of LDS that nobody wrote are found (kernel translated with watched forms)
};

// What a watched launch finds; `code` of the rp_error that rp_launch.found is given.
enum rp_found {
  RP_SHARED_RACE = 100,   // two waves of a workgroup touch the same place of memory between barriers, one writes
  RP_GLOBAL_RACE = 101,   // two workgroups touch the same place of memory in no order, one writes
  RP_UNWRITTEN_LDS = 102, // a read of LDS that nobody wrote
  RP_DEPENDS = 103,       // a store, or where it goes, differs from the run that rp_launch.trace holds
};
typedef void (*rp_found_fn)(void *user, const rp_error *where);

// What the waves of a launch stored, in order; a second launch compares itself with it.
typedef struct rp_trace rp_trace;
rp_trace *rp_trace_new(void);
void rp_trace_free(rp_trace *trace);

typedef struct rp_launch {
  uint32_t grid[3];          // workgroups
  uint32_t block[3];         // work-items of a workgroup
  uint32_t dynamic_lds;      // bytes
  uint32_t flags;            // enum rp_flags
  uint64_t image;            // where the code object is loaded (see segments in the JSON); 0 if it needs no address
  const void *kernarg;       // explicit arguments at their offsets
  uint32_t kernarg_bytes;    // of that block; hidden arguments are filled by the engine
  uint32_t threads;          // 0: all cores
  uint64_t seed;             // 0: waves and workgroups in order; else the order is drawn from it
  uint32_t poison;           // what registers hold at first
  uint32_t has_poison;       // 0: zero
  uint64_t limit;            // instructions one wave may execute (0: no limit)
  uint64_t hidden[RP_HIDDEN_KINDS];  // pointers for the hidden arguments that the engine cannot compute
  rp_message_fn message;
  void *user;
  rp_found_fn found;           // may be NULL
  rp_trace *trace;             // filled where it is new, else compared with; may be NULL. Needs RP_WATCH
  // Results
  uint64_t instructions;       // executed by all waves
  uint64_t lane_instructions;  // the same times the wave size
} rp_launch;

typedef struct rp_kernel rp_kernel;

// Opens a kernel's shared object. NULL on error (error says why).
rp_kernel *rp_kernel_open(const char *path, rp_error *error);
void rp_kernel_close(rp_kernel *kernel);
const rp_kernel_info *rp_kernel_describe(const rp_kernel *kernel);

// Runs the launch to its end. 0, or an enum rp_stop with `error` filled. Thread-safe.
int rp_dispatch(const rp_kernel *kernel, rp_launch *launch, rp_error *error);

uint32_t rp_abi(void);

#ifdef __cplusplus
}
#endif
#endif
