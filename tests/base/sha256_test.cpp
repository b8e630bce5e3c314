#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "base/temporary_folder.hpp"

namespace conebench {
namespace {

std::string sha256(std::string_view bytes, std::size_t piece) {
  Sha256 hash;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) hash.add(bytes.substr(0, piece));
  return hash.hex();
}

// FIPS 180-4's examples (NIST), whatever the pieces.
TEST(Sha256, GivesThePublishedDigests) {
  for (const std::size_t piece : {1U, 7U, 64U, 1000000U}) {
    EXPECT_EQ(sha256("", piece), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256("abc", piece), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256(std::string(1000000, 'a'), piece),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "abc") << "abc";
  EXPECT_EQ(file_sha256(folder.path() / "abc"), sha256("abc", 3));
  EXPECT_EQ(file_sha256(folder.path() / "none"), std::nullopt);
}

}  // namespace
}  // namespace conebench
