// Derived skeletons: mistakes in a file are errors that name the item's place, what was found and what is allowed.
#include <gtest/gtest.h>

#include "application_stream.hpp"
#include "derived_file.hpp"

namespace manynode::test {
namespace {

// The error of reading a file and running it on four ranks, after the file's own name.
std::string error_in(const DerivedContent& content, const std::string& values = "{}") {
  const DerivedFile file(content.text());
  const std::string error = error_of([&] {
    const auto application = make_application("derived", file.parameters(values), 4);
    for (int rank = 0; rank < 4; ++rank) stream_of(*application, rank, 4);
  });
  const std::size_t path = error.find(file.path());
  return path == std::string::npos ? error : error.substr(0, path) + error.substr(path + file.path().size());
}

std::string error_in_body(const std::string& body) {
  DerivedContent content;
  content.body = body;
  content.grid = grid_json("line", 1);
  content.communicators = R"([{"name": "pairs", "color": "rank // 2 if rank else -1", "key": "rank"}])";
  content.distributions = R"({"border": {"values": [1], "persistence": 0}})";
  return error_in(content);
}

void expect_parts(const std::string& error, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(error.find(part), std::string::npos) << part << " is not in: " << error;
}

TEST(DerivedErrors, AFileIsNeededAndItsContentIsThatOfTheDigest) {
  expect_parts(error_of([] { make_application("derived", {}, 4); }),
               {"needs its compiled file | file | nothing | the path of a compiled file"});
  expect_parts(error_of([] { make_application("derived", Parameters({{"file", std::string("/no/such/file")}}), 4); }),
               {"cannot be read | file | /no/such/file"});
  const DerivedFile file(DerivedContent{}.text());
  Parameters other = file.parameters();
  auto values = other.values();
  values["digest"] = std::string("0123456789abcdef");
  expect_parts(error_of([&] { make_application("derived", Parameters(values), 4); }),
               {"another content than 'digest' says | digest | 0123456789abcdef | "});
  const DerivedFile no_json("{");
  expect_parts(error_of([&] { make_application("derived", no_json.parameters(), 4); }), {"is no JSON | "});
}

TEST(DerivedErrors, TheDigestIsSha256) {
  EXPECT_EQ(derived::digest_of(""), "e3b0c44298fc1c14");
  EXPECT_EQ(derived::digest_of("abc"), "ba7816bf8f01cfea");
  EXPECT_EQ(derived::digest_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb92");
  EXPECT_EQ(derived::digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8");
}

TEST(DerivedErrors, ThePartsOfAFileHaveTheirForm) {
  const auto with = [](auto change) {
    DerivedContent content;
    change(content);
    return error_in(content);
  };
  expect_parts(with([](auto& c) { c.schema = "derived-program/2"; }),
               {": schema | derived-program/2 | derived-program/1"});
  expect_parts(with([](auto& c) { c.further = R"(, "bodie": 1)"; }), {"unknown key | ", "bodie", "did you mean body?"});
  expect_parts(with([](auto& c) { c.parameters = R"({"nx": 1.5})"; }), {": parameters/nx | 1.5 | a number of 64 bits"});
  expect_parts(with([](auto& c) { c.definitions = R"([["a", "b"]])"; }),
               {"not known here: b | : definitions/a | b | "});
  expect_parts(with([](auto& c) { c.definitions = R"([["a"]])"; }), {": definitions/0 | [\"a\"] | [name, expression]"});
  expect_parts(with([](auto& c) { c.distributions = R"({"d": {"values": [], "persistence": 0}})"; }),
               {": distributions/d/values"});
  expect_parts(with([](auto& c) { c.distributions = R"({"d": {"values": [-1], "persistence": 0}})"; }),
               {": distributions/d/values/0 | -1 | 0 to 2^50 bytes"});
  expect_parts(with([](auto& c) { c.distributions = R"({"d": {"values": [1], "persistence": 2}})"; }),
               {": distributions/d/persistence | 2 | 0 to 1"});
  expect_parts(with([](auto& c) { c.distributions = R"({"d": {"values": [1], "persistence": 0, "mean": "-P"}})"; }),
               {"mean of a distribution is -4 | ", ": distributions/d/mean | \"-P\" | 0 to 2^50 bytes"});
  expect_parts(with([](auto& c) { c.distributions = R"({"d": {"values": [0], "persistence": 0, "mean": "P"}})"; }),
               {"sizes of 0 bytes have another mean | ", ": distributions/d/mean | \"P\" | 0"});
  expect_parts(with([](auto& c) { c.distributions = R"({"d": {"values": [1], "persistence": 0, "mean": "1 // 0"}})"; }),
               {": distributions/d/mean", "division by zero"});
  expect_parts(with([](auto& c) { c.communicators = R"([{"name": "a", "color": "1 // rank", "key": "0"}])"; }),
               {": communicators/0/color | 1 // rank: division by zero (with 1, 0) on rank 0 of 4"});
  expect_parts(with([](auto& c) { c.communicators = R"([{"name": "a", "color": "1 << 40", "key": "0"}])"; }),
               {": communicators/0/color", "a number of 32 bits"});
  expect_parts(with([](auto& c) { c.grid = grid_json("lines", 1); }), {"grid/rule | lines | ", "did you mean line?"});
  expect_parts(with([](auto& c) { c.grid = grid_json("line", 9); }), {": grid/dimensions | 9 | 1 to 8"});
  expect_parts(with([](auto& c) { c.grid = grid_json("squarest", 3); }), {": grid/dimensions | 3 | 2"});
  expect_parts(with([](auto& c) { c.grid = grid_json("line", 1, "ascending", "last-fastest", "[true, true]"); }),
               {": grid/periodic | ", "1 flags"});
  expect_parts(with([](auto& c) { c.grid = R"({"extents": {"8": [2, 4]}, "layout": "last-fastest"})"; }),
               {"no extents for this number of ranks | : grid | ", "4 ranks"});
  expect_parts(with([](auto& c) { c.grid = R"({"extents": {"4": [2, 3]}, "layout": "last-fastest"})"; }),
               {"do not hold all ranks | : grid/extents/4 | [2,3] | 4 ranks"});
}

TEST(DerivedErrors, ParametersAreThoseOfTheFile) {
  expect_parts(error_in({}, R"({"ny": 4})"), {"no such parameter | values | ny | n, nx", "did you mean n"});
  expect_parts(error_in({}, R"({"nx": 4.5})"), {"values: nx | 4.5 | a whole number"});
  expect_parts(error_in({}, R"({"nx": true})"), {"values: nx | true | a whole number"});
  expect_parts(error_in({}, "nx"), {"not valid JSON | values"});
}

TEST(DerivedErrors, ItemsHaveTheirForm) {
  expect_parts(error_in_body(R"([{"when": "1"}])"), {": body/0 | ", "compute, call, do, free, or site alone"});
  expect_parts(error_in_body(R"([{"compute": "wrok"}])"),
               {": body/0/compute | wrok | work, rest | did you mean work?"});
  expect_parts(error_in_body(R"([{"call": "MPI_Barier"}])"),
               {": body/0/call | MPI_Barier | ", "did you mean MPI_Barrier?"});
  expect_parts(error_in_body(R"([{"call": "MPI_Send", "peer": "0"}])"), {"MPI_Send lacks 'bytes' | : body/0"});
  expect_parts(error_in_body(R"([{"call": "MPI_Barrier", "bytes": "8"}])"),
               {"MPI_Barrier has no such key | : body/0 | bytes | call, when, site, communicator"});
  expect_parts(error_in_body(R"([{"do": [{"call": "MPI_Irecv", "peer": "0", "bytes": "8"}]}])"),
               {"MPI_Irecv lacks 'request' | : body/0/do/0"});
  expect_parts(error_in_body(R"([{"call": "MPI_Allreduce", "bytes": 8}])"), {": body/0/bytes | 8 | a text"});
  expect_parts(error_in_body(R"([{"call": "MPI_Allreduce", "bytes": {"draw": "border"}}])"),
               {"between two ranks are drawn | : body/0/bytes"});
  expect_parts(error_in_body(R"([{"call": "MPI_Send", "peer": "0", "bytes": {"draw": "boarder"}}])"),
               {": body/0/bytes/draw | boarder | border"});
  expect_parts(error_in_body(R"([{"call": "MPI_Barrier", "communicator": "pair"}])"),
               {": body/0/communicator | pair | world, pairs | did you mean pairs?"});
  expect_parts(error_in_body(R"([{"call": "MPI_Waitall", "requests": ["r"], "order": "oldest"}])"),
               {": body/0/order | oldest | made, names, newest"});
  expect_parts(error_in_body(R"([{"repeat": "2", "index": "nx", "do": []}])"),
               {"a name that is taken | : body/0/index"});
  expect_parts(error_in_body(R"([{"do": [], "index": "i", "times": "2"}])"), {"unknown key | : body/0 | times"});
  expect_parts(error_in_body(R"([{"free": ["r"], "take": "1"}])"), {"unknown key | : body/0 | take"});
  expect_parts(error_in_body(R"([{"call": "MPI_Alltoallv", "sent": {"draw": "border"}, "received": "8"}])"),
               {"drawn are the blocks of MPI_Alltoallv"});
  std::string nested = "[]";
  for (int level = 0; level < 60; ++level) nested = R"([{"do": )" + nested + "}]";
  expect_parts(error_in_body(nested), {"nested too deeply | : body/0/do/0/do"});
}

TEST(DerivedErrors, ValuesThatMakeNoSenseNameTheRank) {
  expect_parts(error_in_body(R"([{"repeat": "2", "do": [{"call": "MPI_Scan", "bytes": "8 // (1 - rank) + 0"}]}])"),
               {": body/0/do/0/bytes | 8 // (1 - rank) + 0: division by zero (with 8, 0) on rank 1 of 4"});
  expect_parts(error_in_body(R"([{"call": "MPI_Scan", "bytes": "8 - (rank == 2) * 9"}])"),
               {"a size is wrong | : body/0/bytes | -1 on rank 2 of 4 | 0 to 2^50 bytes"});
  expect_parts(error_in_body(R"([{"call": "MPI_Alltoallv", "sent": "8 - k", "received": "2 - k"}])"),
               {": body/0/received | -1 on rank 0 of 4"});
  expect_parts(error_in_body(R"([{"call": "MPI_Alltoall", "bytes": "1 << 51"}])"), {": body/0/bytes"});
  expect_parts(error_in_body(R"([{"call": "MPI_Send", "peer": "rank + 1", "bytes": "8"}])"),
               {"a peer is outside the job | : body/0/peer | 4 on rank 3 of 4 | 0 to 3, null (-3) | "});
  expect_parts(error_in_body(R"([{"call": "MPI_Send", "peer": "any", "bytes": "8"}])"),
               {"a peer is outside the job | : body/0/peer | -2 on rank 0 of 4 | 0 to 3, null (-3) | "});
  expect_parts(error_in_body(R"([{"call": "MPI_Bcast", "peer": "at(4) + 0", "bytes": "8"}])"),
               {": body/0/peer | -3 on rank 0 of 4 | 0 to 3 | "});
  expect_parts(error_in_body(R"([{"call": "MPI_Sendrecv", "peer": "0", "source": "9", "bytes": "8"}])"),
               {": body/0/source | 9 on rank 0 of 4 | 0 to 3, null (-3), any (-2)"});
  expect_parts(
      error_in_body(R"([{"call": "MPI_Neighbor_alltoall", "bytes": "8", "sources": [], "destinations": ["7"]}])"),
      {": body/0/destinations | 7"});
  expect_parts(error_in_body(R"([{"call": "MPI_Send", "peer": "0", "bytes": "8", "tag": "-1"}])"),
               {"a tag is wrong | : body/0/tag | -1 on rank 0 of 4 | 0 to 2^31-1 | "});
  expect_parts(error_in_body(R"([{"call": "MPI_Recv", "peer": "any", "bytes": {"draw": "border"}}])"),
               {"from any rank cannot be drawn | : body/0/bytes"});
  expect_parts(error_in_body(R"([{"repeat": "1 - rank", "do": []}])"),
               {"less often than never | : body/0/repeat | -1 on rank 2 of 4 | at least 0"});
  expect_parts(error_in_body(R"([{"call": "MPI_Barrier", "communicator": "pairs"}])"),
               {"without being in it | : body/0/communicator | 0 on rank 0 of 4"});
  expect_parts(error_in_body(R"([{"call": "MPI_Bcast", "bytes": "8", "peer": "1", "communicator": "pairs",
                                  "when": "rank > 1"}])"),
               {"a peer is not in the communicator | : body/0/peer | 1 on rank 2 of 4 | members of pairs"});
}

TEST(DerivedErrors, SitesAreThoseOfTheFileAndTheirPhasesWereRecorded) {
  DerivedContent content;
  content.sites = R"(["a", "b"])";
  content.body = R"([{"call": "MPI_Barrier", "site": 2}])";
  expect_parts(error_in(content), {"no such site | : body/0/site | 2 | 0 to 1"});
  content.phases = R"(["a -> b"])";
  content.body = R"([{"call": "MPI_Barrier", "site": 0}, {"call": "MPI_Barrier", "site": 1}, {"site": 0}])";
  expect_parts(error_in(content), {"was never recorded | : body/2, rank 0 of 4 | b -> a"});
}

TEST(DerivedErrors, RequestsAreOpenWhenAWaitTakesThemAndNotAtTheEnd) {
  const std::string open = R"({"call": "MPI_Ibarrier", "request": "r"}, )";
  expect_parts(error_in_body("[" + open + R"({"call": "MPI_Waitall", "requests": ["q"]}])"),
               {"open at the end of a derived skeleton | : rank 0 of 4 | r"});
  expect_parts(error_in_body("[" + open + R"({"call": "MPI_Waitall", "requests": ["r"], "take": "2"}])"),
               {"more requests than are open | : body/1/take | 2 on rank 0 of 4 | 1, as many as are open"});
  expect_parts(error_in_body(R"([{"call": "MPI_Wait", "requests": ["r"]}])"),
               {"more requests than are open | : body/0/requests | 1 on rank 0 of 4 | 0, as many"});
  expect_parts(error_in_body("[" + open + R"({"call": "MPI_Waitany", "requests": ["r"], "take": "0"}])"),
               {": body/1/take | 0 on rank 0 of 4 | 1"});
  expect_parts(error_in_body("[" + open + R"({"call": "MPI_Waitall", "requests": ["r"], "take": "-1"}])"),
               {": body/1/take | -1 on rank 0 of 4 | at least 0"});
}

}  // namespace
}  // namespace manynode::test
