// SPDX-License-Identifier: Apache-2.0
#include "model/catalogue.hpp"

#include "model/families.hpp"

#include <gtest/gtest.h>

namespace ullage::model {
namespace {

TEST(ModelCatalogue, EveryEntryHasItsPublishedParameters) {
  for (const CatalogueEntry& entry : catalogue()) {
    const auto model = describe(entry.config, std::string(entry.short_name));
    ASSERT_TRUE(model) << entry.short_name << ": " << model.error().what;
    EXPECT_EQ(parameter_count(*model), entry.parameters) << entry.short_name;
    EXPECT_FALSE(entry.source.empty());
  }
}

// Counts that the models' publishers give, from outside the catalogue's file.
TEST(ModelCatalogue, CountsAreThoseOfThePublishers) {
  const std::pair<std::string_view, std::uint64_t> published[] = {{"gpt2", 124439808},
                                                                  {"gpt2-xl", 1557611200},
                                                                  {"opt-1.3b", 1315758080},
                                                                  {"pythia-70m", 70426624},
                                                                  {"pythia-12b", 11846072320},
                                                                  {"gpt-neox-20b", 20554567680},
                                                                  {"llama-2-7b", 6738415616},
                                                                  {"llama-2-70b", 68976648192},
                                                                  {"llama-3.1-8b", 8030261248},
                                                                  {"llama-3.1-70b", 70553706496},
                                                                  {"llama-3.1-405b", 405853388800},
                                                                  {"llama-3.2-1b", 1235814400},
                                                                  {"mistral-7b-v0.1", 7241732096},
                                                                  {"qwen2.5-7b", 7615616512},
                                                                  {"qwen3-8b", 8190735360},
                                                                  {"gemma-2-9b", 9241705984},
                                                                  {"phi-3-mini", 3821079552}};
  for (const auto& [name, count] : published) {
    const CatalogueEntry* entry = find_in_catalogue(name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(parameter_count(*describe(entry->config, "")), count) << name;
  }
}

TEST(ModelCatalogue, FindsShortNamesAndHubIdsWhateverTheirCase) {
  const CatalogueEntry* entry = find_in_catalogue("llama-3.1-8b");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(find_in_catalogue("meta-llama/Llama-3.1-8B"), entry);
  EXPECT_EQ(find_in_catalogue("meta-llama/llama-3.1-8b-instruct"), entry);
  EXPECT_EQ(find_in_catalogue("llama-3.1-9b"), nullptr);
}

TEST(ModelCatalogue, SuggestsNamesOfTheSameKind) {
  EXPECT_NE(catalogue_suggestion("lama-3.1-8b").find("'llama-3.1-8b'"), std::string::npos);
  EXPECT_NE(catalogue_suggestion("meta-lama/Llama-3.1-8B").find("'meta-llama/Llama-3.1-8B'"), std::string::npos);
  EXPECT_EQ(catalogue_suggestion("completely-different-thing"), "'ullage models' lists the catalogue");
}

}  // namespace
}  // namespace ullage::model
