#include "reporting/text_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace evenkeel::reporting {
namespace {

TEST(TextTable, AlignsNamesLeftAndNumbersRight) {
  const TextTable table{.columns = {{"policy", Align::left}, {"imbalance", Align::right}},
                        .rows = {{{"kube-default"}, {"0.135"}}, {{"random"}}}};
  EXPECT_EQ(render_text_table(table, TextStyle::plain),
            "policy        imbalance\n"
            "kube-default      0.135\n"
            "random                 \n");
}

TEST(TextTable, CountsColumnsAsATerminalDoes) {
  EXPECT_EQ(display_width("0.1 ± 0.2"), 9u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u);  // e and a combining accent
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("\xFF\xE6"), 2u) << "broken text must not break the count";
}

TEST(TextTable, UsesEscapeSequencesOnlyWhenAsked) {
  const TextTable table{.columns = {{"policy", Align::left}}, .rows = {{{"best", Emphasis::strong}}}};
  EXPECT_EQ(render_text_table(table, TextStyle::plain).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text_table(table, TextStyle::coloured).find("\x1b[1mbest\x1b[0m"), std::string::npos);
}

TEST(TextTable, LetsNoCellSteerTheTerminal) {
  const TextTable table{.columns = {{"pod", Align::left}}, .rows = {{{"a\x1b[31mb\nc"}}}};
  EXPECT_EQ(render_text_table(table, TextStyle::plain), "pod\na [31mb c\n");
}

TEST(TextTable, MarksTheBestAndTheReferences) {
  const TableView view{.columns = {{"imbalance", "imbalance", Better::lower}},
                       .rows = {{"kube-default", PolicyKind::rule, {{{0.135, 0.011}}}},
                                {"horizon", PolicyKind::rule, {{{0.073, 0.002}}}},
                                {"clairvoyant", PolicyKind::reference, {{{0.067, 0.002}}}}}};
  EXPECT_EQ(render_text_table(text_table_of(view), TextStyle::plain),
            "policy                         imbalance \n"
            "kube-default               0.135 ± 0.011 \n"
            "horizon                  0.0730 ± 0.0020*\n"
            "clairvoyant (reference)  0.0670 ± 0.0020 \n"
            "* best   + best simple rule where a learned policy is best\n"
            "(reference) sees the future: a limit, not a contender\n");
}

TEST(TextStyleFor, IsPlainWhenPiped) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(text_style_for(ends[1]), TextStyle::plain);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace evenkeel::reporting
