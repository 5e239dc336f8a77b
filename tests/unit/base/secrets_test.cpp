// SPDX-License-Identifier: Apache-2.0
#include "base/secrets.hpp"

#include <gtest/gtest.h>

namespace ullage {
namespace {

using Words = std::vector<std::string>;

TEST(Secrets, NamesThatSayThatTheyAreSecret) {
  for (const char* name : {"--token", "--hf_token", "--hub-token", "HF_TOKEN", "wandb.api_key", "--apikey", "password",
                           "--db-password", "client_secret", "--secret-access-key", "passwd", "--credentials"})
    EXPECT_TRUE(names_a_secret(name)) << name;
}

TEST(Secrets, NamesThatOnlySoundLikeIt) {
  for (const char* name : {"--tokenizer", "--max-tokens", "--num_tokens", "--keys", "--keyboard", "--lr", "", "***"})
    EXPECT_FALSE(names_a_secret(name)) << name;
}

TEST(Secrets, ValuesAreMasked) {
  const Words command{"python", "train.py", "--token", "hf_1", "--api-key=k", "db.password=p", "--tokenizer", "gpt2"};
  const Words shown{"python", "train.py", "--token", "***", "--api-key=***", "db.password=***", "--tokenizer", "gpt2"};
  EXPECT_EQ(without_secrets(command), shown);
}

TEST(Secrets, ASwitchIsFollowedByItsNeighbour) {
  EXPECT_EQ(without_secrets({"--use-token", "--lr", "0.1"}), (Words{"--use-token", "--lr", "0.1"}));
  EXPECT_EQ(without_secrets({"--password"}), Words{"--password"});
  EXPECT_EQ(without_secrets({"--token", "-x"}), (Words{"--token", "***"}));
}

}  // namespace
}  // namespace ullage
