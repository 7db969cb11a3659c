// Version 3 of the plugin interface: QEMU from 9.1 on, which still loads plugins of this version.
#include "api.h"

MANYNODE_EXPORT int qemu_plugin_version;
int qemu_plugin_version = 3;

extern "C" size_t qemu_plugin_insn_data(const struct qemu_plugin_insn* insn, void* to, size_t size);

void manynode_instruction_bytes(const struct qemu_plugin_insn* insn, uint8_t* to, size_t room) {
  qemu_plugin_insn_data(insn, to, room);
}
