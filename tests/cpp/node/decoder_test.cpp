// The decoder on real x86-64 machine code (assembled by GNU as), one instruction at a time.
#include "decoded.hpp"

namespace manynode::node {
namespace {

using namespace testing;

// Whole registers are renamed; parts are merged with the rest of the register.
TEST(Decoder, MovesAreRenamed) {
  expect_all({
      {"48 89 d8", "mov rax, rbx", "move rbx -> rax"},
      {"89 d8", "mov eax, ebx", "move rbx -> rax"},
      {"45 89 f8", "mov r8d, r15d", "move r15 -> r8"},
      {"88 d8", "mov al, bl", "move rax rbx -> rax"},
      {"45 88 d1", "mov r9b, r10b", "move r9 r10 -> r9"},
      {"88 dc", "mov ah, bl", "move rax rbx -> rax"},
      {"48 b8 88 77 66 55 44 33 22 11", "movabs rax, 0x1122334455667788", "move -> rax"},
      {"0f b7 c3", "movzx eax, bx", "integer rbx -> rax"},
      {"0f be c3", "movsx eax, bl", "integer rbx -> rax"},
      {"48 63 c1", "movsxd rax, ecx", "integer rcx -> rax"},
      {"48 98", "cdqe", "integer rax -> rax"},
      {"48 93", "xchg rax, rbx", "integer rax rbx -> rax rbx"},
      {"48 0f c8", "bswap rax", "integer rax -> rax"},
  });
}

TEST(Decoder, LoadsAndStoresOfIntegers) {
  expect_all({
      {"48 8b 04 cb", "mov rax, [rbx+rcx*8]", "move [rbx rcx] -> rax load"},
      {"48 89 04 cb", "mov [rbx+rcx*8], rax", "move [rbx rcx] rax store"},
      {"48 8b 44 24 08", "mov rax, [rsp+8]", "move [rsp] -> rax load"},
      {"64 48 8b 04 25 00 00 00 00", "mov rax, fs:[0]", "move -> rax load"},
      {"48 89 05 10 00 00 00", "mov [rip+0x10], rax", "move rax store"},
      {"c7 07 05 00 00 00", "mov dword ptr [rdi], 5", "move [rdi] store of 4"},
      {"88 07", "mov byte ptr [rdi], al", "move [rdi] rax store of 1"},
      {"0f b6 07", "movzx eax, byte ptr [rdi]", "move [rdi] -> rax load of 1"},
      {"48 0f 38 f1 07", "movbe [rdi], rax", "move [rdi] rax store"},
      {"48 0f 38 f0 07", "movbe rax, [rdi]", "move [rdi] -> rax load"},
      {"48 0f c3 07", "movnti [rdi], rax", "move [rdi] rax store"},
      {"0f 9f 07", "setg byte ptr [rdi]", "integer [rdi] flags store of 1"},
      {"0f ae 1f", "stmxcsr [rdi]", "integer [rdi] store of 4"},
      {"0f ae 17", "ldmxcsr [rdi]", "integer [rdi] load of 4"},
  });
}

TEST(Decoder, Arithmetic) {
  expect_all({
      {"48 01 d8", "add rax, rbx", "integer rax rbx -> rax flags"},
      {"48 03 06", "add rax, [rsi]", "integer [rsi] rax -> rax flags load"},
      {"31 d8", "xor eax, ebx", "integer rax rbx -> rax flags"},
      {"48 39 d8", "cmp rax, rbx", "integer rax rbx -> flags"},
      {"48 3b 07", "cmp rax, [rdi]", "integer [rdi] rax -> flags load"},
      {"48 39 07", "cmp [rdi], rax", "integer [rdi] rax -> flags load"},
      {"85 c0", "test eax, eax", "integer rax -> flags"},
      {"48 f7 07 01 00 00 00", "test [rdi], 1", "integer [rdi] -> flags load"},
      {"84 07", "test byte ptr [rdi], al", "integer [rdi] rax -> flags load of 1"},
      {"48 f7 d8", "neg rax", "integer rax -> rax flags"},
      {"48 f7 d0", "not rax", "integer rax -> rax"},
      {"48 ff c0", "inc rax", "integer rax -> rax flags"},
      {"48 d3 e0", "shl rax, cl", "integer rax rcx -> rax flags"},
      {"48 c1 f8 03", "sar rax, 3", "integer rax -> rax flags"},
      {"0f 94 c0", "sete al", "integer rax flags -> rax"},
      {"48 11 d8", "adc rax, rbx", "integer rax rbx flags -> rax flags"},
      {"19 c0", "sbb eax, eax", "integer rax flags -> rax flags"},
      {"c4 e2 e0 f2 c1", "andn rax, rbx, rcx", "integer rbx rcx -> rax flags"},
      {"c4 e2 f1 f7 c3", "shlx rax, rbx, rcx", "integer rbx rcx -> rax"},
      {"48 0f ba e0 03", "bt rax, 3", "integer rax -> flags"},
      {"48 83 ec 20", "sub rsp, 0x20", "integer rsp -> rsp flags"},
      {"48 99", "cqo", "integer rax -> rax rdx"},
  });
}

TEST(Decoder, MultiplicationsAndDivisions) {
  expect_all({
      {"48 0f af c3", "imul rax, rbx", "multiply rax rbx -> rax flags"},
      {"48 6b c3 0a", "imul rax, rbx, 10", "multiply rbx -> rax flags"},
      {"48 6b 07 0a", "imul rax, [rdi], 10", "multiply [rdi] -> rax flags load"},
      {"48 f7 e1", "mul rcx", "multiply rcx rax -> rax rdx flags"},
      {"48 f7 27", "mul [rdi]", "multiply [rdi] rax -> rax rdx flags load"},
      {"c4 e2 e3 f6 c1", "mulx rax, rbx, rcx", "multiply rcx rdx -> rax rbx"},
      {"f3 48 0f b8 c3", "popcnt rax, rbx", "multiply rbx -> rax flags"},
      {"f3 48 0f bc c3", "tzcnt rax, rbx", "multiply rbx -> rax flags"},
      {"48 f7 f1", "div rcx", "divide x10 rcx rax rdx -> rax rdx flags"},
      {"f7 f9", "idiv ecx", "divide x10 rcx rax rdx -> rax rdx flags"},
      {"48 f7 37", "div [rdi]", "divide x10 [rdi] rax rdx -> rax rdx flags load"},
  });
}

TEST(Decoder, OperationsOnMemoryLoadAndStore) {
  expect_all({
      {"48 01 06", "add [rsi], rax", "integer [rsi] rax -> flags load store"},
      {"48 ff 07", "inc [rdi]", "integer [rdi] -> flags load store"},
      {"f7 17", "not dword ptr [rdi]", "integer [rdi] load store of 4"},
      {"80 0f 01", "or byte ptr [rdi], 1", "integer [rdi] -> flags load store of 1"},
      {"48 11 07", "adc [rdi], rax", "integer [rdi] rax flags -> flags load store"},
      {"48 c1 27 03", "shl [rdi], 3", "integer [rdi] -> flags load store"},
      {"48 d1 07", "rol [rdi], 1", "integer [rdi] -> flags load store"},
      {"48 d3 3f", "sar [rdi], cl", "integer [rdi] rcx -> flags load store"},
      {"48 0f a4 07 03", "shld [rdi], rax, 3", "integer [rdi] rax -> flags load store"},
      {"48 0f ba 2f 03", "bts [rdi], 3", "integer [rdi] -> flags load store"},
  });
}

TEST(Decoder, LeaAccessesNothing) {
  expect_all({
      {"48 8d 44 8b 08", "lea rax, [rbx+rcx*4+8]", "integer rbx rcx -> rax"},
      {"48 8d 05 00 01 00 00", "lea rax, [rip+0x100]", "integer -> rax"},
  });
}

TEST(Decoder, ZeroIdiomsWaitForNothing) {
  expect_all({
      {"31 c0", "xor eax, eax", "move -> rax flags"},
      {"48 29 c9", "sub rcx, rcx", "move -> rcx flags"},
      {"66 0f ef c0", "pxor xmm0, xmm0", "move -> v0"},
      {"0f 57 c9", "xorps xmm1, xmm1", "move -> v1"},
      {"c5 f0 57 c1", "vxorps xmm0, xmm1, xmm1", "move -> v0"},
      {"66 0f ef c1", "pxor xmm0, xmm1", "vector v0 v1 -> v0"},
      {"66 0f 76 c0", "pcmpeqd xmm0, xmm0", "vector v0 -> v0"},
  });
}

TEST(Decoder, ConditionalMovesNeedTheOldValue) {
  expect_all({
      {"48 0f 44 c3", "cmove rax, rbx", "integer rax rbx flags -> rax"},
      {"48 0f 44 07", "cmove rax, [rdi]", "integer [rdi] rax flags -> rax load"},
  });
}

TEST(Decoder, TheStackPointerIsFollowedWithoutTime) {
  expect_all({
      {"55", "push rbp", "move rbp store"},
      {"ff 30", "push [rax]", "move [rax] load store"},
      {"5d", "pop rbp", "move -> rbp load"},
      {"8f 07", "pop [rdi]", "move [rdi] load store"},
      {"9c", "pushfq", "move flags store"},
      {"c9", "leave", "integer rbp rsp -> rbp rsp load"},
  });
}

TEST(Decoder, Branches) {
  expect_all({
      {"e8 fb 00 00 00", "call .+0x100", "none store call"},
      {"ff d0", "call rax", "integer rax store indirect-call"},
      {"ff 50 08", "call [rax+8]", "integer [rax] load store indirect-call"},
      {"ff 15 00 01 00 00", "call [rip+0x100]", "integer load store indirect-call"},
      {"c3", "ret", "integer load return"},
      {"f3 c3", "rep ret", "integer load return"},
      {"eb 0e", "jmp .+0x10", "none jump"},
      {"f2 eb 2d", "bnd jmp .+0x30", "none jump"},
      {"ff e0", "jmp rax", "integer rax indirect-jump"},
      {"3e ff e0", "notrack jmp rax", "integer rax indirect-jump"},
      {"ff 24 c5 00 10 00 00", "jmp [rax*8+0x1000]", "integer [rax] load indirect-jump"},
      {"ff 25 00 01 00 00", "jmp [rip+0x100]", "integer load indirect-jump"},
      {"74 0e", "je .+0x10", "integer flags conditional"},
      {"75 be", "jne .-0x40", "integer flags conditional"},
      {"e3 0e", "jrcxz .+0x10", "integer rcx conditional"},
      {"e2 0e", "loop .+0x10", "integer rcx -> rcx conditional"},
  });
}

TEST(Decoder, NothingToWaitFor) {
  expect_all({
      {"90", "nop", "none"},
      {"0f 1f 04 00", "nop dword ptr [rax+rax*1+0]", "none"},
      {"f3 0f 1e fa", "endbr64", "none"},
      {"0f 18 0f", "prefetcht0 [rdi]", "none"},
      {"0f ae f0", "mfence", "none"},
      {"f3 90", "pause", "none"},
      {"c5 f8 77", "vzeroupper", "none"},
  });
}

TEST(Decoder, StringOperations) {
  expect_all({
      {"48 a5", "movsq", "integer [rdi rsi] rdi rsi flags -> rdi rsi load store"},
      {"f3 a4", "rep movsb", "integer [rdi rsi] rdi rsi flags rcx -> rdi rsi rcx load store of 1"},
      {"f3 48 ab", "rep stosq", "integer [rdi] rax rcx rdi flags -> rcx rdi store"},
      {"ac", "lodsb", "integer [rsi] rax rsi flags -> rax rsi load of 1"},
      {"a6", "cmpsb", "integer [rsi rdi] rdi rsi flags -> rdi rsi flags load of 1"},
      {"f2 ae", "repne scasb", "integer [rdi] rax rdi flags rcx -> rdi flags rcx load of 1"},
  });
}

TEST(Decoder, LockedOperationsTakeEightSlots) {
  expect_all({
      {"f0 48 01 07", "lock add [rdi], rax", "integer x8 [rdi] rax -> flags load store"},
      {"f0 ff 07", "lock inc dword ptr [rdi]", "integer x8 [rdi] -> flags load store of 4"},
      {"f0 48 0f c1 07", "lock xadd [rdi], rax", "integer x8 [rdi] rax -> rax load store"},
      {"f0 48 0f b1 0f", "lock cmpxchg [rdi], rcx", "integer x8 [rdi] rcx rax -> rax flags load store"},
      {"48 87 07", "xchg [rdi], rax", "integer x8 [rdi] rax -> rax load store"},
      {"48 0f b1 cb", "cmpxchg rbx, rcx", "integer rcx rax -> rbx rax flags"},
  });
}

TEST(Decoder, VectorMoves) {
  expect_all({
      {"0f 28 c1", "movaps xmm0, xmm1", "move v1 -> v0"},
      {"c5 fd 28 c1", "vmovapd ymm0, ymm1", "move v1 -> v0"},
      {"f2 0f 10 c1", "movsd xmm0, xmm1", "vector v0 v1 -> v0"},
      {"c5 f2 10 c2", "vmovss xmm0, xmm1, xmm2", "vector v1 v2 -> v0"},
      {"66 48 0f 7e c0", "movq rax, xmm0", "transfer v0 -> rax"},
      {"66 48 0f 6e c0", "movq xmm0, rax", "transfer rax -> v0"},
      {"66 0f 50 c0", "movmskpd eax, xmm0", "transfer v0 -> rax"},
      {"66 0f d7 c0", "pmovmskb eax, xmm0", "transfer v0 -> rax"},
  });
}

TEST(Decoder, VectorLoads) {
  expect_all({
      {"0f 28 07", "movaps xmm0, [rdi]", "move [rdi] -> v0 load"},
      {"f2 0f 10 07", "movsd xmm0, [rdi]", "move [rdi] -> v0 load"},
      {"f3 0f 10 07", "movss xmm0, dword ptr [rdi]", "move [rdi] -> v0 load of 4"},
      {"66 0f 16 07", "movhpd xmm0, [rdi]", "move [rdi] v0 -> v0 load"},
      {"c5 f1 16 07", "vmovhpd xmm0, xmm1, [rdi]", "move [rdi] v1 -> v0 load"},
      {"c5 fd 10 07", "vmovupd ymm0, [rdi]", "move [rdi] -> v0 load"},
      {"c4 e2 7d 19 07", "vbroadcastsd ymm0, [rdi]", "move [rdi] -> v0 load"},
      {"c5 ff 12 07", "vmovddup ymm0, [rdi]", "move [rdi] -> v0 load"},
      {"c4 e2 75 2d 07", "vmaskmovpd ymm0, ymm1, [rdi]", "vector [rdi] v1 -> v0 load"},
  });
}

TEST(Decoder, VectorStores) {
  expect_all({
      {"0f 11 07", "movups [rdi], xmm0", "move [rdi] v0 store"},
      {"66 0f 29 07", "movapd [rdi], xmm0", "move [rdi] v0 store"},
      {"66 0f 7f 07", "movdqa [rdi], xmm0", "move [rdi] v0 store"},
      {"f3 0f 7f 07", "movdqu [rdi], xmm0", "move [rdi] v0 store"},
      {"f2 0f 11 07", "movsd [rdi], xmm0", "move [rdi] v0 store"},
      {"f3 0f 11 07", "movss dword ptr [rdi], xmm0", "move [rdi] v0 store of 4"},
      {"66 0f 7e 07", "movd dword ptr [rdi], xmm0", "move [rdi] v0 store of 4"},
      {"66 0f d6 07", "movq [rdi], xmm0", "move [rdi] v0 store"},
      {"0f 13 07", "movlps [rdi], xmm0", "move [rdi] v0 store"},
      {"0f 17 07", "movhps [rdi], xmm0", "move [rdi] v0 store"},
      {"66 0f e7 07", "movntdq [rdi], xmm0", "move [rdi] v0 store"},
      {"c5 f8 29 07", "vmovaps [rdi], xmm0", "move [rdi] v0 store"},
      {"c5 fd 11 07", "vmovupd [rdi], ymm0", "move [rdi] v0 store"},
      {"c5 fe 7f 07", "vmovdqu [rdi], ymm0", "move [rdi] v0 store"},
      {"c5 fd 2b 07", "vmovntpd [rdi], ymm0", "move [rdi] v0 store"},
      {"c5 fb 11 07", "vmovsd [rdi], xmm0", "move [rdi] v0 store"},
      {"c5 fa 11 07", "vmovss dword ptr [rdi], xmm0", "move [rdi] v0 store of 4"},
      {"c5 f9 d6 07", "vmovq [rdi], xmm0", "move [rdi] v0 store"},
      {"c5 f9 17 07", "vmovhpd [rdi], xmm0", "move [rdi] v0 store"},
      {"66 48 0f 3a 16 07 01", "pextrq [rdi], xmm0, 1", "vector [rdi] v0 store"},
      {"c4 e3 7d 19 07 01", "vextractf128 [rdi], ymm0, 1", "vector [rdi] v0 store"},
      {"c4 e2 75 2f 07", "vmaskmovpd [rdi], ymm1, ymm0", "vector [rdi] v1 v0 store"},
  });
}

TEST(Decoder, KnowsWhichAccessesAreOfVectorRegisters) {
  const Block block = decoded({
      "f2 0f 10 07",     // movsd xmm0, [rdi]
      "f2 0f 58 07",     // addsd xmm0, [rdi]
      "f2 48 0f 2a 07",  // cvtsi2sd xmm0, qword ptr [rdi]
      "c5 fd 11 07",     // vmovupd [rdi], ymm0
      "48 8b 07",        // mov rax, [rdi]
      "48 89 07",        // mov [rdi], rax
      "dd 07",           // fld qword ptr [rdi]
  });
  std::vector<bool> vectors;
  for (const Instruction& instruction : block.instructions) vectors.push_back(instruction.vector);
  EXPECT_EQ(vectors, (std::vector<bool>{true, true, true, true, false, false, false}));
}

TEST(Decoder, FloatArithmetic) {
  expect_all({
      {"f2 0f 58 c1", "addsd xmm0, xmm1", "float-add v0 v1 -> v0"},
      {"f2 0f 58 07", "addsd xmm0, [rdi]", "float-add [rdi] v0 -> v0 load"},
      {"66 0f 59 c1", "mulpd xmm0, xmm1", "float v0 v1 -> v0"},
      {"c5 f5 58 c2", "vaddpd ymm0, ymm1, ymm2", "float-add v1 v2 -> v0"},
      {"c5 f5 58 07", "vaddpd ymm0, ymm1, [rdi]", "float-add [rdi] v1 -> v0 load"},
      {"c4 e2 f5 b8 c2", "vfmadd231pd ymm0, ymm1, ymm2", "float v0 v1 v2 -> v0"},
      {"c4 e2 f1 b9 07", "vfmadd231sd xmm0, xmm1, [rdi]", "float [rdi] v0 v1 -> v0 load"},
      {"c4 e2 f5 a8 04 cf", "vfmadd213pd ymm0, ymm1, [rdi+rcx*8]", "float [rdi rcx] v0 v1 -> v0 load"},
      {"c4 e2 f5 bc c2", "vfnmadd231pd ymm0, ymm1, ymm2", "float v0 v1 v2 -> v0"},
      {"c5 f5 5d c2", "vminpd ymm0, ymm1, ymm2", "float-add v1 v2 -> v0"},
      {"c4 e3 71 0b c2 01", "vroundsd xmm0, xmm1, xmm2, 1", "float-add v1 v2 -> v0"},
      {"f2 48 0f 2a c0", "cvtsi2sd xmm0, rax", "convert rax -> v0"},
      {"f2 48 0f 2c c0", "cvttsd2si rax, xmm0", "convert v0 -> rax"},
      {"66 0f 2e c1", "ucomisd xmm0, xmm1", "compare v0 v1 -> flags"},
      {"66 0f 2f 07", "comisd xmm0, [rdi]", "compare [rdi] v0 -> flags load"},
      {"c5 f1 7c c2", "vhaddpd xmm0, xmm1, xmm2", "float-add v1 v2 -> v0"},
      {"f2 0f 5e c1", "divsd xmm0, xmm1", "float-divide v0 v1 -> v0"},
      {"f2 0f 51 c1", "sqrtsd xmm0, xmm1", "float-divide v1 -> v0"},
      {"c5 f5 5e c2", "vdivpd ymm0, ymm1, ymm2", "float-divide v1 v2 -> v0"},
      {"c5 fd 51 c1", "vsqrtpd ymm0, ymm1", "float-divide v1 -> v0"},
  });
}

TEST(Decoder, VectorsOfIntegersAndShuffles) {
  expect_all({
      {"66 0f fe c1", "paddd xmm0, xmm1", "vector v0 v1 -> v0"},
      {"66 0f fe 07", "paddd xmm0, [rdi]", "vector [rdi] v0 -> v0 load"},
      {"66 0f 38 40 c1", "pmulld xmm0, xmm1", "float v0 v1 -> v0"},
      {"66 0f 14 c1", "unpcklpd xmm0, xmm1", "vector v0 v1 -> v0"},
      {"c5 f5 54 c2", "vandpd ymm0, ymm1, ymm2", "vector v1 v2 -> v0"},
      {"c4 e3 fd 01 c1 1b", "vpermpd ymm0, ymm1, 0x1b", "vector v1 -> v0"},
      {"c4 e3 7d 19 c8 01", "vextractf128 xmm0, ymm1, 1", "vector v1 -> v0"},
      {"c4 e3 75 18 c2 01", "vinsertf128 ymm0, ymm1, xmm2, 1", "vector v1 v2 -> v0"},
      {"c4 e3 75 4b c2 30", "vblendvpd ymm0, ymm1, ymm2, ymm3", "vector v1 v2 v3 -> v0"},
      {"c4 e2 7d 17 c1", "vptest ymm0, ymm1", "vector v0 v1 -> flags"},
      {"c4 e2 ed 92 04 cf", "vgatherdpd ymm0, [rdi+xmm1*8], ymm2", "vector [rdi v1] v2 -> v0 load"},
      {"66 48 0f 3a 22 c0 01", "pinsrq xmm0, rax, 1", "transfer v0 rax -> v0"},
  });
}

TEST(Decoder, TheX87StackIsOneRegister) {
  expect_all({
      {"dd 07", "fld [rdi]", "move [rdi] x87 -> x87 load"},
      {"dd 1f", "fstp [rdi]", "move [rdi] x87 store"},
      {"db 17", "fist dword ptr [rdi]", "move [rdi] x87 store of 4"},
      {"d8 c1", "fadd st, st(1)", "float x87 -> x87"},
      {"dc 0f", "fmul [rdi]", "float [rdi] x87 -> x87 load"},
      {"de f9", "fdivp st(1), st", "float-divide x87 -> x87"},
      {"d9 fa", "fsqrt", "float-divide x87 -> x87"},
      {"d9 e0", "fchs", "float x87 -> x87"},
      {"d9 c9", "fxch st(1)", "vector x87 -> x87"},
  });
}

}  // namespace
}  // namespace manynode::node
