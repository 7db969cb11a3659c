// Blocks of several instructions: places, endings, fusion, wide vectors, what Capstone does not know.
#include "decoded.hpp"

namespace manynode::node {
namespace {

using namespace testing;

const char* const kCompare = "48 39 d8";       // cmp rax, rbx
const char* const kAdd = "48 01 d8";           // add rax, rbx
const char* const kShift = "48 c1 f8 03";      // sar rax, 3
const char* const kLockedAdd = "f0 48 01 07";  // lock add [rdi], rax
const char* const kMove = "48 89 d8";          // mov rax, rbx
const char* const kJumpIfEqual = "74 0e";      // je
const char* const kJump = "eb 0e";             // jmp
const char* const kWideAdd = "c5 f5 58 c2";    // vaddpd ymm0, ymm1, ymm2
const char* const kWideLoad = "c5 fd 10 07";   // vmovupd ymm0, [rdi]
const char* const kNarrowAdd = "66 0f 58 c1";  // addpd xmm0, xmm1
const char* const kScalarAdd = "f2 0f 58 c1";  // addsd xmm0, xmm1

TEST(DecodedBlock, KnowsItsPlacesAndItsEnding) {
  const Block block = decoded({kMove, kShift, kJumpIfEqual}, 32, 0x401000);
  EXPECT_EQ(block.address, 0x401000u);
  EXPECT_EQ(block.starts, (std::vector<std::uint16_t>{0, 3, 7, 9}));
  EXPECT_EQ(block.last_address, 0x401007u);
  EXPECT_EQ(block.next_address, 0x401009u);
  EXPECT_EQ(block.ending, Ending::kConditional);
  EXPECT_EQ(decoded({kMove, kShift}).ending, Ending::kNone) << "cut by a page or by its length";
}

TEST(DecodedBlock, LeavesOutTheReadPartOfAnInstructionThatReachesIntoTheNextPage) {
  const Block block = decoded({kAdd, "f2 0f"}, 32, 0x400ffb);
  EXPECT_EQ(block.instructions.size(), 1u);
  EXPECT_EQ(block.next_address, 0x400ffeu);
  EXPECT_EQ(block.starts, (std::vector<std::uint16_t>{0, 3}));
  EXPECT_EQ(decoded({kAdd, "c7 07"}, 32, 0x400ff9).instructions.size(), 1u) << "a constant crosses: nothing of it read";
  EXPECT_EQ(decoded({kAdd, kMove}, 32, 0x400ffa).instructions.size(), 2u) << "it ends with the page";
  EXPECT_EQ(decoded({kScalarAdd}, 32, 0x400ffe).instructions.size(), 1u) << "the whole one, in its own block";
}

std::uint8_t slots_of_jump_after(const char* before) {
  return decoded({before, kJumpIfEqual}).instructions.back().operations;
}

TEST(DecodedBlock, AConditionalJumpFusesWithTheComparisonBeforeIt) {
  EXPECT_EQ(slots_of_jump_after(kCompare), 0);
  EXPECT_EQ(slots_of_jump_after(kAdd), 0);
  EXPECT_EQ(slots_of_jump_after("85 c0"), 0) << "test eax, eax";
  EXPECT_EQ(slots_of_jump_after("48 ff c8"), 0) << "dec rax";
}

TEST(DecodedBlock, OtherInstructionsAndJumpsDoNotFuse) {
  EXPECT_EQ(slots_of_jump_after(kShift), 1);
  EXPECT_EQ(slots_of_jump_after(kMove), 1);
  EXPECT_EQ(slots_of_jump_after(kLockedAdd), 1);
  EXPECT_EQ(decoded({kCompare, kJump}).instructions.back().operations, 1) << "no condition";
  EXPECT_EQ(decoded({kCompare, kMove, kJumpIfEqual}).instructions.back().operations, 1) << "not next to it";
  EXPECT_EQ(decoded({kJumpIfEqual}).instructions.back().operations, 1);
}

TEST(DecodedBlock, AFusedJumpStillWaitsForTheFlags) {
  const Block block = decoded({kCompare, kJumpIfEqual});
  EXPECT_EQ(description_of(block.instructions[0]), "integer rax rbx -> flags");
  EXPECT_EQ(description_of(block.instructions[1]), "integer x0 flags");
}

TEST(DecodedBlock, VectorsWiderThanTheUnitNeedItSeveralTimes) {
  const auto repeats = [](const char* bytes, std::uint32_t vector_bytes) {
    return decoded({bytes}, vector_bytes).instructions[0].repeats;
  };
  EXPECT_EQ(repeats(kWideAdd, 32), 1);
  EXPECT_EQ(repeats(kWideAdd, 16), 2);
  EXPECT_EQ(repeats(kWideAdd, 64), 1);
  EXPECT_EQ(repeats(kWideLoad, 16), 2);
  EXPECT_EQ(repeats(kNarrowAdd, 16), 1);
  EXPECT_EQ(repeats(kScalarAdd, 16), 1);
  EXPECT_EQ(repeats(kMove, 8), 1);
}

TEST(DecodedBlock, AnInstructionThatIsNotKnownCountsAsAnIntegerOperation) {
  const std::uint8_t bytes[] = {0x06};  // no instruction of 64-bit code
  const Code code{bytes, 1, 0x400000};
  Decoder decoder(32);
  Block block;
  decoder.decode({&code, 1}, block);
  EXPECT_EQ(decoder.unknown(), 1u);
  EXPECT_EQ(description_of(block.instructions.at(0)), "integer");
  EXPECT_EQ(block.ending, Ending::kNone);
}

}  // namespace
}  // namespace manynode::node
