// SPDX-License-Identifier: Apache-2.0
#include "ingest/snapshot/pickle.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "pickle_writer.hpp"
#include "test_data.hpp"

namespace ullage::pickle {
namespace {

using namespace std::string_literals;
using test::bytes_of;

// The input must outlive the document.
struct Parsed {
  explicit Parsed(std::string text) : input(std::move(text)), document(read(bytes_of(input))) {}
  std::string input;
  Result<Document> document;
  [[nodiscard]] std::string error() const { return document ? "" : document.error().what; }
  [[nodiscard]] std::string where() const { return document ? "" : document.error().where; }
};

TEST(Pickle, ReadsScalars) {
  const Parsed p("\x80\x04(K\x05M\x01\x02J\xff\xff\xff\xff\x8a\x01\x80\x88NG\x3f\xf8\0\0\0\0\0\0\x8c\x02hit."s);
  ASSERT_TRUE(p.document) << p.error();
  const Document& d = *p.document;
  const auto items = d.items(d.root());
  ASSERT_EQ(items.size(), 8u);
  EXPECT_EQ(d.to_signed(items[0]), 5);
  EXPECT_EQ(d.to_signed(items[1]), 513);
  EXPECT_EQ(d.to_signed(items[2]), -1);
  EXPECT_EQ(d.to_unsigned(items[2]), std::nullopt);
  EXPECT_EQ(d.to_signed(items[3]), -128);
  EXPECT_EQ(d.to_boolean(items[4]), true);
  EXPECT_EQ(items[5].kind(), Kind::none);
  EXPECT_EQ(d.to_real(items[6]), 1.5);
  EXPECT_EQ(d.text(items[7]), "hi");
}

TEST(Pickle, IntegersKeepAll64Bits) {
  EXPECT_TRUE(rc::check("round trip", [] {
    const auto value = *rc::gen::resize(1000, rc::gen::arbitrary<std::uint64_t>());
    const Parsed p(test::PickleWriter().integer(value).finish());
    RC_ASSERT(p.document->to_unsigned(p.document->root()) == value);
  }));
}

TEST(Pickle, HugeIntegersAreOpaque) {
  const Parsed p("\x80\x02\x8a\x0a\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a."s);
  EXPECT_EQ(p.document->root().kind(), Kind::opaque);
}

TEST(Pickle, SharedObjectsKeepTheirIdentity) {
  const Parsed p(
      "\x80\x04]\x94(]\x94(K\x01"
      "eh\x01K\x02"
      "e."s);
  ASSERT_TRUE(p.document) << p.error();
  const auto items = p.document->items(p.document->root());
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].identity(), items[1].identity());
}

TEST(Pickle, ListsGrowInSeveralBatches) {
  std::string text = "\x80\x02]";
  for (int batch = 0; batch < 300; ++batch)
    text +=
        "(K\x01]K\x02"
        "e"s;
  const Parsed p(text + '.');
  const auto items = p.document->items(p.document->root());
  ASSERT_EQ(items.size(), 900u);
  for (std::size_t i = 0; i < items.size(); i += 3) {
    EXPECT_EQ(p.document->to_signed(items[i]), 1);
    EXPECT_EQ(items[i + 1].kind(), Kind::list);
    EXPECT_EQ(p.document->to_signed(items[i + 2]), 2);
  }
}

TEST(Pickle, CodeIsRefusedByName) {
  const std::pair<std::string, std::string> cases[] = {{"\x80\x02"
                                                        "cos\nsystem\n."s,
                                                        "GLOBAL"},
                                                       {"\x80\x04\x8c\x02os\x8c\x06system\x93."s, "STACK_GLOBAL"},
                                                       {"\x80\x02)R."s, "REDUCE"},
                                                       {"\x80\x02}b."s, "BUILD"},
                                                       {"\x80\x02(ios\nsystem\n."s, "INST"},
                                                       {"\x80\x02(o."s, "OBJ"},
                                                       {"\x80\x02)\x81."s, "NEWOBJ"},
                                                       {"\x80\x02NQ."s, "BINPERSID"},
                                                       {"\x80\x02\x82\x01."s, "EXT1"}};
  for (const auto& [text, name] : cases) {
    const Parsed p(text);
    EXPECT_NE(p.error().find(name), std::string::npos) << p.error();
    EXPECT_NE(p.error().find("data only"), std::string::npos);
    EXPECT_EQ(p.where().substr(0, 5), "byte ");
  }
  EXPECT_EQ(Parsed("\x80\x02)R."s).where(), "byte 3");
}

TEST(Pickle, ValuesThatContainThemselvesAreErrors) {
  EXPECT_EQ(Parsed("\x80\x02]q\0h\0a."s).error(), "a value contains itself");
  EXPECT_EQ(Parsed("\x80\x02]q\0(h\0e."s).error(), "a value contains itself");
  EXPECT_NE(Parsed("\x80\x02]q\0]q\x01h\0ah\0h\x01"
                   "a."s)
                .error(),
            "");
  EXPECT_NE(Parsed("\x80\x02]q\0(h\0tq\x01"
                   "0h\0h\x01"
                   "a."s)
                .error(),
            "");
}

TEST(Pickle, NestingHasALimit) {
  EXPECT_NE(Parsed("\x80\x02" + std::string(100000, '(') + ".").error(), "");
  std::string deep = "\x80\x02";
  for (int i = 0; i < 100000; ++i) deep += ']';
  for (int i = 1; i < 100000; ++i) deep += 'a';
  EXPECT_TRUE(Parsed(deep + ".").document);  // deep, but nothing recurses
}

TEST(Pickle, LyingLengthsAreErrors) {
  EXPECT_EQ(Parsed("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s).error(), "the snapshot ends too early");
  EXPECT_EQ(Parsed("\x80\x02X\xff\xff\xff\x7f"
                   "ab."s)
                .error(),
            "the snapshot ends too early");
  EXPECT_EQ(Parsed("\x80\x02\x8b\xff\xff\xff\xff."s).error(), "the snapshot ends too early");
}

TEST(Pickle, MemoNumbersAreChecked) {
  EXPECT_NE(Parsed("\x80\x02]r\xff\xff\xff\xff."s).error(), "");
  EXPECT_NE(Parsed("\x80\x02h\x05."s).error(), "");
  EXPECT_NE(Parsed("\x80\x02j\xff\xff\xff\xff."s).error(), "");
}

TEST(Pickle, StackUnderflowsAreErrors) {
  for (const char* text : {"\x80\x02.",
                           "\x80\x02"
                           "a.",
                           "\x80\x02"
                           "e.",
                           "\x80\x02s.", "\x80\x02(u.", "\x80\x02]u.", "\x80\x02\x87.", "\x80\x02](a.", "\x80\x02}(Nu.",
                           "\x80\x02}(]Nu.", "\x80\x02t.",
                           "\x80\x02"
                           "0."}) {
    EXPECT_NE(Parsed(text).error(), "") << text;
  }
}

TEST(Pickle, OtherFilesAreNoPickles) {
  EXPECT_EQ(Parsed("").error(), "the file is empty");
  EXPECT_EQ(Parsed("hello").error(), "this is not a pickle");
  EXPECT_NE(Parsed("\x80\x06N.").error(), "");
}

TEST(Pickle, ACutFileKeepsWhatIsComplete) {
  const std::string whole =
      test::PickleWriter().op('}').op('(').text("a").op(']').op(']').op('(').integer(1).integer(2).finish();
  const Parsed p(whole.substr(0, whole.size() - 1));
  ASSERT_TRUE(p.document);
  ASSERT_TRUE(p.document->damage());
  const auto outer = p.document->items(p.document->get(p.document->root(), "a"));
  ASSERT_EQ(outer.size(), 1u);
  EXPECT_EQ(p.document->items(outer[0]).size(), 2u);
}

TEST(Pickle, RandomBytesNeverCrash) {
  EXPECT_TRUE(rc::check("survives", [] {
    static constexpr char opcodes[] = "}](te)adlsu0123hjqrKMJNXGCB.\x80\x85\x86\x87\x88\x89\x8a\x8c\x8d\x94\x95";
    const auto picks = *rc::gen::scale(5.0, rc::gen::arbitrary<std::vector<std::uint8_t>>());
    std::string text = "\x80\x04";
    for (const std::uint8_t pick : picks)
      text += pick < 200 ? opcodes[pick % (sizeof opcodes - 1)] : static_cast<char>(pick);
    const Parsed p(text);
    if (p.document) RC_ASSERT(p.document->root() || p.document->damage());
  }));
}

}  // namespace
}  // namespace ullage::pickle
