#include "classes.hpp"

#include <algorithm>
#include <string_view>

#include "registers.hpp"

namespace manynode::node {
namespace {

using Name = std::string_view;

bool one_of(Name name, std::initializer_list<Name> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}
bool begins_with_one_of(Name name, std::initializer_list<Name> list) {
  return std::any_of(list.begin(), list.end(), [name](Name word) { return name.starts_with(word); });
}

bool has_register(const cs_x86& x86, bool (*is_kind)(std::uint8_t)) {
  return std::any_of(x86.operands, x86.operands + x86.op_count, [is_kind](const cs_x86_op& op) {
    return op.type == X86_OP_REG && is_kind(register_number(op.reg));
  });
}

bool same_sources(const cs_x86& x86) {
  const int last = x86.op_count - 1;
  return last >= 1 && x86.operands[last].type == X86_OP_REG && x86.operands[last - 1].type == X86_OP_REG &&
         x86.operands[last].reg == x86.operands[last - 1].reg;
}

// Scalar and packed arithmetic ends in ss, sd, ps or pd.
bool is_float_arithmetic(Name name) {
  if (name.starts_with("v")) name.remove_prefix(1);
  if (begins_with_one_of(name, {"cvt", "round", "ucomis", "comis", "dpp"})) return true;
  if (name.size() < 4 || !one_of(name.substr(name.size() - 2), {"ss", "sd", "ps", "pd"})) return false;
  return begins_with_one_of(name, {"add", "sub", "mul", "min", "max", "cmp", "hadd", "hsub", "fmadd", "fmsub", "fnmadd",
                                   "fnmsub", "rcp", "rsqrt"});
}

bool is_float_division(Name name) {
  if (name.starts_with("v")) name.remove_prefix(1);
  return one_of(name, {"divss", "divsd", "divps", "divpd", "sqrtss", "sqrtsd", "sqrtps", "sqrtpd"});
}

Kind kind_of_float(const cs_x86& x86, Name name) {
  if (name.starts_with("v")) name.remove_prefix(1);
  if (begins_with_one_of(name, {"ucomis", "comis"})) return Kind::kFloatCompare;
  if (name.starts_with("cvt") && has_register(x86, is_general)) return Kind::kConvert;
  if (begins_with_one_of(name, {"mul", "fmadd", "fmsub", "fnmadd", "fnmsub", "dpp", "rcp", "rsqrt"}))
    return Kind::kFloat;
  return Kind::kFloatAdd;
}

InstructionClass x87(Name name) {
  using First = InstructionClass::First;
  InstructionClass what;
  what.x87 = true;
  what.leaves_x87 = begins_with_one_of(name, {"fst", "fist", "fbst", "fnst", "fcom", "fucom", "ficom", "ftst", "fxam"});
  what.first = begins_with_one_of(name, {"fst", "fist", "fbst", "fnst"}) ? First::kWritten : First::kRead;
  if (begins_with_one_of(name,
                         {"fdiv", "fidiv", "fsqrt", "fprem", "fsin", "fcos", "fpatan", "fptan", "fyl2x", "f2xm1"})) {
    what.kind = Kind::kFloatDivide;
  } else if (begins_with_one_of(name, {"fld", "fst", "fild", "fist", "fxch", "fnst", "fldcw", "fnclex", "ffree"})) {
    what.kind = Kind::kVector;
    what.moves = true;
  } else {
    what.kind = Kind::kFloat;
  }
  return what;
}

InstructionClass control(const cs_insn& insn, Name name) {
  InstructionClass what;
  const cs_x86& x86 = insn.detail->x86;
  const bool direct = x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM;
  if (name.starts_with("ret")) {
    what.ending = Ending::kReturn;
    what.stack = what.pops = true;
  } else if (name == "call") {
    what.ending = direct ? Ending::kCall : Ending::kIndirectCall;
    what.stack = what.pushes = true;
    what.kind = direct ? Kind::kNone : Kind::kInteger;
  } else if (name == "jmp") {
    what.ending = direct ? Ending::kJump : Ending::kIndirectJump;
    what.kind = direct ? Kind::kNone : Kind::kInteger;
  } else {
    what.ending = Ending::kConditional;
  }
  return what;
}

InstructionClass vector(const cs_insn& insn, Name name) {
  InstructionClass what;
  const cs_x86& x86 = insn.detail->x86;
  what.kind = Kind::kVector;
  what.first = InstructionClass::First::kWritten;
  if (is_float_division(name)) {
    what.kind = Kind::kFloatDivide;
  } else if (is_float_arithmetic(name)) {
    what.kind = kind_of_float(x86, name);
  } else if (begins_with_one_of(name, {"mov", "vmov", "lddqu", "vlddqu", "vbroadcast"}) && !name.ends_with("mskpd") &&
             !name.ends_with("mskps") && !name.ends_with("mskb")) {
    what.moves = true;
    // Whole registers are renamed; parts, and moves between kinds of registers, are operations.
    const bool whole = begins_with_one_of(name, {"movap", "movup", "movdq", "vmovap", "vmovup", "vmovdq"});
    if (whole && x86.op_count == 2 && x86.operands[1].type == X86_OP_REG) what.kind = Kind::kMove;
    if (has_register(x86, is_general)) what.kind = Kind::kTransfer;
  } else if (has_register(x86, is_general)) {  // movmskpd, pextrq, pinsrd
    what.kind = Kind::kTransfer;
  } else if (begins_with_one_of(name, {"pmul", "vpmul", "pmadd", "vpmadd"})) {
    what.kind = Kind::kFloat;  // on the multipliers of the vector units
  } else if (same_sources(x86) && one_of(name, {"pxor", "xorps", "xorpd", "vpxor", "vxorps", "vxorpd"})) {
    what.zeroes = true;
    what.kind = Kind::kMove;
  }
  return what;
}

}  // namespace

InstructionClass classify(const cs_insn& insn) {
  const cs_x86& x86 = insn.detail->x86;
  Name name = insn.mnemonic;
  bool locked = false;
  for (const Name prefix :
       {Name("lock "), Name("rep "), Name("repne "), Name("repe "), Name("notrack "), Name("bnd ")}) {
    if (!name.starts_with(prefix)) continue;
    locked |= prefix == "lock ";
    name.remove_prefix(prefix.size());
  }
  for (int i = 0; i < insn.detail->groups_count; ++i) {
    const std::uint8_t group = insn.detail->groups[i];
    if (group == X86_GRP_JUMP || group == X86_GRP_CALL || group == X86_GRP_RET) return control(insn, name);
  }
  if (name.starts_with("loop")) return control(insn, name);
  if (has_register(x86, is_vector)) return vector(insn, name);
  using First = InstructionClass::First;
  InstructionClass what;
  if (begins_with_one_of(
          name, {"nop", "endbr", "prefetch", "pause", "lfence", "mfence", "sfence", "clflush", "clwb", "vzero"})) {
    what.kind = Kind::kNone;
    what.no_operands = true;
  } else if (name.starts_with("f") && name != "femms") {
    return x87(name);
  } else if (name == "lea") {
    what.touches_memory = false;
  } else if (one_of(name, {"mov", "movabs"})) {
    what.kind = Kind::kMove;
    what.moves = true;
  } else if (begins_with_one_of(name, {"movzx", "movsx", "movbe", "movnti"})) {
    what.moves = true;
    what.first = First::kWritten;
  } else if (name.starts_with("push")) {
    what.kind = Kind::kMove;
    what.stack = what.pushes = true;
  } else if (name.starts_with("pop") && name != "popcnt") {
    what.kind = Kind::kMove;
    what.stack = what.pops = true;
  } else if (name == "leave") {
    what.pops = true;
  } else if (begins_with_one_of(name, {"imul", "mulx"}) || name == "mul" ||
             one_of(name, {"popcnt", "lzcnt", "tzcnt", "bsf", "bsr"})) {
    what.kind = Kind::kMultiply;
  } else if (one_of(name, {"div", "idiv"})) {
    what.kind = Kind::kDivide;
    what.operations = 10;
  } else if (one_of(name, {"xor", "sub"}) && same_sources(x86)) {
    what.zeroes = true;
    what.kind = Kind::kMove;
  } else if (name.starts_with("cmov")) {
    what.keeps_old_result = true;
  } else if (name.starts_with("cmpxchg")) {
    what.exchanges = true;
    what.first = First::kChanged;
  } else if (begins_with_one_of(name, {"rol", "ror", "rcl", "rcr"})) {
    what.first = First::kChanged;
  } else if (name.starts_with("set") || name == "stmxcsr") {
    what.first = First::kWritten;
  } else if (one_of(name, {"cmp", "test", "add", "sub", "and", "inc", "dec"})) {
    what.fuses = true;
    if (one_of(name, {"cmp", "test"})) what.first = First::kRead;
  } else if (one_of(name, {"cpuid", "xsave", "xsavec", "xrstor", "fxsave", "fxrstor", "syscall", "rdtsc", "rdtscp"})) {
    what.operations = 30;
  }
  if (locked || (name == "xchg" && x86.op_count == 2 && x86.operands[0].type != x86.operands[1].type)) {
    what.operations = 8;
    what.fuses = false;
  }
  return what;
}

}  // namespace manynode::node
