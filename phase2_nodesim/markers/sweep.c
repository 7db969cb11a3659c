/* The same first-level caches and branch history at the begin of every simulated compute phase.
 *
 * MPI polls, and how often it does so is chance. Under callgrind that leaves chance in the simulated caches, so that
 * the miss counts of the next compute phase differ by a few from run to run. After each MPI call the sweep reads one
 * line after the other of a fixed buffer and runs through one line after the other of a fixed piece of code, both as
 * large as the largest usual first-level cache: whatever MPI left there is gone, and the last conditional branches are
 * always the same. The price: nothing of the phase before survives an MPI call in the first level (it does in the last
 * level). It is off unless MANYNODE_MARKERS_SWEEP=1.
 *
 * What is left to chance then are the 16,384 two-bit counters of callgrind's branch predictor (index: seven bits of
 * history, seven bits of address), which conditional branches inside MPI share with the application's: a misprediction
 * more or less in some phases. MANYNODE_MARKERS_SWEEP=2 drives every one of them to a fixed end: 128 branches, one for
 * each value of the address bits, follow a shift register of full period, so that the history takes every value, three
 * times over, because a two-bit counter needs three steps from end to end. It costs some ten milliseconds per MPI call
 * and takes from the predictor what it had learnt. */
#include "markers.h"

enum { SWEEP_BYTES = 64 * 1024, LINE = 64 };

static _Alignas(4096) char buffer[SWEEP_BYTES];

#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
#define MK_JUMP "jmp"
#else
#define MK_JUMP "b"
#endif
/* 1024 cache lines of code, each of which only jumps to the next */
__asm__(
    ".text\n"
    ".balign 4096\n"
    ".type mk_run_through, %function\n"
    "mk_run_through:\n"
    ".rept 1024\n" MK_JUMP
    " 1f\n"
    ".balign 64\n"
    "1:\n"
    ".endr\n"
    "ret\n"
    ".size mk_run_through, .-mk_run_through\n");
extern void mk_run_through(void);
#else
static void mk_run_through(void) {}
#endif

#if defined(__x86_64__)
/* One block per branch address; the blocks are 129 bytes long, so that the branch's address moves by one modulo 128.
 * The only conditional branch of a block is the one that follows the register (esi, a copy of the predictor's history);
 * the block repeats by a computed jump. Eight zeros come first, for the one history that the register never takes and
 * so that every block begins with the same history; ecx counts 3 zeros and 3 periods of 127 steps besides. */
__asm__(
    ".text\n"
    ".balign 128\n"
    ".type mk_follow_register, %function\n"
    "mk_follow_register:\n"
    ".rept 128\n"
    "10: xorl %esi, %esi\n"
    "    movl $11, %ecx\n"
    "    leaq 13f(%rip), %r9\n"
    "11: leaq 11b(%rip), %r8\n"
    "    movl %esi, %eax\n"
    "    addl %eax, %eax\n"
    "    xorl %esi, %eax\n"
    "    shrl $6, %eax\n"
    "    andl $1, %eax\n"
    "    leal (%rax,%rsi,2), %esi\n"
    "    andl $0x7f, %esi\n"
    "    testl %eax, %eax\n"
    "    jnz 12f\n"
    "    nop\n"
    "12: subl $1, %ecx\n"
    "    cmovz %r9, %r8\n"
    "    jmp *%r8\n"
    "13: leaq 14f(%rip), %r9\n"
    "    movl $1, %esi\n"
    "    movl $388, %ecx\n"
    "    jmp 11b\n"
    "14: .fill 129 - (. - 10b), 1, 0x90\n"
    ".endr\n"
    "    ret\n"
    ".size mk_follow_register, .-mk_follow_register\n");
extern void mk_follow_register(void);
#else
static void mk_follow_register(void) {}
#endif

void mk_sweep(void) {
  if (mk_state.sweep >= 2) mk_follow_register();
  mk_run_through();
  for (int i = 0; i < SWEEP_BYTES; i += LINE) (void)*(volatile char*)&buffer[i];
}
