// The front end of the node model in QEMU's user mode: hands each thread's blocks and accesses to the model, and marks.
//
// A block is worked out when the next one begins: its accesses are known then, and so is where its branch went. Nothing
// is timed before the program has announced itself (marks.h), nor between the marks of an MPI call.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>

#include "../marks.h"
#include "api.h"
#include "rank.hpp"
#include "translation.hpp"

namespace manynode::plugin {
namespace {

constexpr unsigned kThreads = 1024;

node::RunFile run_file;
std::unique_ptr<Translations> translations;
std::unique_ptr<node::Rank> rank;
std::array<node::Thread*, kThreads> threads{};
node::Thread untimed;  // what all threads are before they are timed
std::mutex prepare_mutex;
// A program that starts others (a shell) has them run natively under this run's name; only the first program announces
// itself in a process.
unsigned main_vcpu = 0;

constexpr const char* kOtherThread =
    "a thread other than the one that called MPI_Init calls MPI; simulated ranks may use MPI_THREAD_FUNNELED at most";

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "manynode node model: %s\n", what.c_str());
  std::_Exit(70);
}

void prepare(node::Block& block) {
  const std::scoped_lock lock(prepare_mutex);
  if (block.prepared) return;
  node::prepare(block, run_file.node.core, run_file.node.core.cycles(run_file.node.l1d.latency_cycles));
}

void on_block(unsigned vcpu, void* data) {
  node::Thread& thread = *threads[vcpu];
  if (!thread.timed) return;
  auto* block = static_cast<node::Block*>(data);
  if (__builtin_expect(!block->prepared, 0)) prepare(*block);
  rank->enter(thread, block);
}

void on_load(unsigned vcpu, qemu_plugin_meminfo_t, std::uint64_t address, void* data) {
  node::Thread& thread = *threads[vcpu];
  if (!thread.timed) return;
  const Operand operand = unpacked(data);
  thread.core->memory.load(address, operand.size, operand.instruction);
}

// Most loads are of one of two sizes, which then need not be unpacked.
template <std::uint32_t kSize>
void on_load_of(unsigned vcpu, qemu_plugin_meminfo_t, std::uint64_t address, void* data) {
  node::Thread& thread = *threads[vcpu];
  if (!thread.timed) return;
  thread.core->memory.load(address, kSize, unpacked(data).instruction);
}

void on_store(unsigned vcpu, qemu_plugin_meminfo_t, std::uint64_t address, void* data) {
  node::Thread& thread = *threads[vcpu];
  if (!thread.timed) return;
  const Operand operand = unpacked(data);
  thread.core->memory.store(address, operand.size, operand.instruction);
}

void on_load_or_store(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address, void* data) {
  (qemu_plugin_mem_is_store(info) ? on_store : on_load)(vcpu, info, address, data);
}

// From QEMU 8.2 on, one callback may stand for 16 bytes: the model takes a word at a time.
void on_wide(unsigned vcpu, qemu_plugin_meminfo_t info, std::uint64_t address, void* data) {
  on_load_or_store(vcpu, info, address, data);
  if (qemu_plugin_mem_size_shift(info) > 3) on_load_or_store(vcpu, info, address + 8, data);
}

qemu_plugin_vcpu_mem_cb_t callback_of(const node::Instruction& instruction) {
  if (instruction.wide) return on_wide;
  if (instruction.store) return instruction.load ? on_load_or_store : on_store;
  switch (instruction.access_bytes) {
    case 4:
      return on_load_of<4>;
    case 8:
      return on_load_of<8>;
    default:
      return on_load;
  }
}

// The number of pieces that end before instruction `after`.
std::size_t pieces_before(const node::Block& block, std::uint32_t after) {
  std::size_t count = 0;
  while (count < block.pieces.size() && block.pieces[count].end <= after) ++count;
  return count;
}

void on_mark(unsigned vcpu, void* data) {
  if (rank == nullptr) return;
  if (vcpu != main_vcpu) fail(kOtherThread);
  const auto& mark = *static_cast<Mark*>(data);
  node::Thread& thread = *threads[vcpu];
  switch (mark.kind) {
    case MN_MARK_STOP:
    case MN_MARK_STOP_BLIND:
      if (thread.timed && thread.block == mark.block) rank->run(thread, pieces_before(*mark.block, mark.after));
      rank->stop(mark.kind == MN_MARK_STOP_BLIND);
      break;
    case MN_MARK_START:
      rank->start();
      if (!mark.block->prepared) prepare(*mark.block);
      thread.block = mark.block;
      thread.next = pieces_before(*mark.block, mark.after);
      break;
    case MN_MARK_LOOK:
      rank->look();
      break;
    case MN_MARK_IN_VAIN:
      rank->looked_in_vain();
      break;
    case MN_MARK_LEAVE:
      rank->leave();
      break;
    default:
      break;
  }
}

void on_translation(qemu_plugin_id_t, qemu_plugin_tb* tb) {
  node::Block& block = translations->block_of(tb);
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, &block);
  for (std::size_t i = 0; i < block.instructions.size(); ++i) {
    qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    const node::Instruction& instruction = block.instructions[i];
    if (!run_file.counts_only && (instruction.load || instruction.store)) {
      // Both kinds are asked for: version 1 mixes up its filters.
      qemu_plugin_register_vcpu_mem_cb(insn, callback_of(instruction), QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                       packed({static_cast<std::uint16_t>(i), instruction.access_bytes}));
    }
  }
  for (const std::uint16_t at : block.marks) {
    std::uint8_t bytes[16];
    qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, at);
    manynode_instruction_bytes(insn, bytes, sizeof bytes);
    const int kind = Translations::mark_of(bytes, qemu_plugin_insn_size(insn));
    // Kept for as long as QEMU may execute the block, which is to the end: there are a few marks in a program.
    auto* mark = new Mark{&block, static_cast<std::uint32_t>(kind), std::uint32_t{at} + 1};
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, mark);
  }
}

// What a system call may do to the threads of a rank. `operation` is that of a futex.
enum class Effect { kNone, kMayBlock, kWakes };

Effect effect_of(std::int64_t number, std::uint64_t operation) {
  switch (number) {
    case 202:  // futex: waiting, with or without a bit set, for a lock that inherits priorities, and requeued
      switch (operation & 127) {
        case 0:
        case 6:
        case 9:
        case 11:
        case 13:
          return Effect::kMayBlock;
        default:
          return Effect::kWakes;
      }
    case 449:  // futex_waitv
    case 7:    // poll
    case 271:  // ppoll
    case 23:   // select
    case 270:  // pselect6
    case 232:  // epoll_wait
    case 281:  // epoll_pwait
    case 24:   // sched_yield
    case 35:   // nanosleep
    case 230:  // clock_nanosleep
      return Effect::kMayBlock;
    default:
      return Effect::kNone;
  }
}

bool makes_a_process(std::int64_t number) {
  return number == 56 || number == 57 || number == 58 || number == 435;  // clone, fork, vfork, clone3
}

void instrument(qemu_plugin_id_t id);

void on_system_call(qemu_plugin_id_t id, unsigned vcpu, std::int64_t number, std::uint64_t a1, std::uint64_t a2,
                    std::uint64_t a3, std::uint64_t a4, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {
  if (number == MN_CALL && a1 == MN_CALL_PAGE && rank == nullptr) {
    // The guest's addresses are this process's: user mode on a 64-bit host adds nothing to them.
    auto* page = reinterpret_cast<mn_page*>(a2);
    try {
      rank = std::make_unique<node::Rank>(run_file, static_cast<std::uint32_t>(a3), page);
    } catch (const std::exception& error) {
      fail(error.what());
    }
    main_vcpu = vcpu;
    threads[vcpu] = &rank->main_thread();
    // QEMU calls `instrument` with all threads at rest, before the guest goes on, and has forgotten all translated
    // code.
    qemu_plugin_reset(id, instrument);
  } else if (number == MN_CALL && a1 == MN_CALL_INJECT && rank != nullptr) {
    if (vcpu != main_vcpu) fail(kOtherThread);
    rank->inject(a2, a3, a4 != 0);
  } else if (threads[vcpu]->timed) {
    const Effect effect = effect_of(number, a2);
    if (effect == Effect::kMayBlock) rank->thread_blocks(*threads[vcpu]);
    if (effect == Effect::kWakes) rank->thread_wakes(*threads[vcpu]);
  }
}

void on_system_call_return(qemu_plugin_id_t, unsigned vcpu, std::int64_t number, std::int64_t result) {
  if (makes_a_process(number) && result == 0) {
    // The child of a fork: it has the parent's page and clocks, and must leave both alone.
    threads.fill(&untimed);
    static_cast<void>(rank.release());
  } else if (threads[vcpu]->timed) {
    rank->thread_goes_on(*threads[vcpu]);
  }
}

void on_thread_begins(qemu_plugin_id_t, unsigned vcpu) {
  if (vcpu >= kThreads) fail("a rank has more than " + std::to_string(kThreads) + " threads");
  threads[vcpu] = &untimed;
  // Threads that exist before are the MPI library's; those that start during a compute phase are the program's.
  if (rank != nullptr && rank->main_thread().timed) {
    if (node::Thread* thread = rank->add_thread()) threads[vcpu] = thread;
  }
}

void on_thread_ends(qemu_plugin_id_t, unsigned vcpu) {
  if (threads[vcpu]->timed && rank != nullptr && vcpu != main_vcpu) rank->thread_ends(*threads[vcpu]);
}

void on_end(qemu_plugin_id_t, void*) {
  if (rank == nullptr) return;
  rank->leave();
  std::ofstream(rank->directory() + "/node-report." + std::to_string(rank->world_rank()) + ".json")
      << rank->report(translations->unknown());
}

// What is of interest before a program announces itself: threads and system calls. The start of a program, which is
// longer than some runs, is then translated and executed as without a plugin.
void follow_start(qemu_plugin_id_t id) {
  qemu_plugin_register_vcpu_init_cb(id, on_thread_begins);
  qemu_plugin_register_vcpu_exit_cb(id, on_thread_ends);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
}

void instrument(qemu_plugin_id_t id) {
  follow_start(id);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_return);
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_end, nullptr);
}

}  // namespace

int install(qemu_plugin_id_t id) {
  const char* path = std::getenv("MANYNODE_NODE_RUN");
  if (path == nullptr) {
    std::fprintf(stderr, "manynode node model: MANYNODE_NODE_RUN does not name a run file\n");
    return -1;
  }
  try {
    run_file = node::read_run_file(path);
    translations = std::make_unique<Translations>(run_file.node.core.vector_bytes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "manynode node model: %s\n", error.what());
    return -1;
  }
  threads.fill(&untimed);
  follow_start(id);
  return 0;
}

}  // namespace manynode::plugin

MANYNODE_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int, char**) {
  if (info->version.cur > MANYNODE_NEWEST_INTERFACE) {
    std::fprintf(stderr, "manynode node model: this QEMU has version %d of the plugin interface; known are 1 to %d\n",
                 info->version.cur, MANYNODE_NEWEST_INTERFACE);
    return -1;
  }
  return manynode::plugin::install(id);
}
