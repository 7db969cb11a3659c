// Version 2 of the plugin interface: QEMU 9.0.
#include <cstring>

#include "api.h"

MANYNODE_EXPORT int qemu_plugin_version;
int qemu_plugin_version = 2;

extern "C" const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* insn);

void manynode_instruction_bytes(const struct qemu_plugin_insn* insn, uint8_t* to, size_t room) {
  const size_t size = qemu_plugin_insn_size(insn);
  std::memcpy(to, qemu_plugin_insn_data(insn), size < room ? size : room);
}
