// kith::error::kind(): one case of each kind, as a program meets it.
#include "support/recordings.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>

namespace {

using kith::error_kind;

/// The kind of the error that `f` throws.
error_kind kind_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const kith::error& e) {
    return e.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

kith::runtime_options one_worker() { return kith::test::make_options(1, "steal"); }

TEST(ErrorKind, OfACallIsMisuse) {
  EXPECT_EQ(kind_of([] { kith::spawn([] {}); }), error_kind::misuse);
  EXPECT_EQ(kind_of([] { kith::future<int>().get(); }), error_kind::misuse);
  EXPECT_EQ(kind_of([] { static_cast<void>(kith::after{kith::future<int>()}); }), error_kind::misuse);
}

TEST(ErrorKind, OfAnOptionOrAVariableIsASetting) {
  EXPECT_EQ(kind_of([] { kith::runtime rt(kith::test::make_options(1, "no-such-policy")); }), error_kind::setting);
  EXPECT_EQ(kind_of([] { kith::runtime rt(kith::test::make_options(1, "steal:batch=0")); }), error_kind::setting);
  kith::runtime_options o = one_worker();
  o.throttle = -1;
  EXPECT_EQ(kind_of([&] { kith::runtime rt(o); }), error_kind::setting);
  o = one_worker();
  o.workers = 0;
  EXPECT_EQ(kind_of([&] { kith::runtime rt(o); }), error_kind::setting);
  o = one_worker();
  o.machine = "node:2 core:zero";
  EXPECT_EQ(kind_of([&] { kith::runtime rt(o); }), error_kind::setting);
  o = one_worker();
  o.memory = "everywhere";
  EXPECT_EQ(kind_of([&] { kith::runtime rt(o); }), error_kind::setting);
}

TEST(ErrorKind, OfAFileIsInput) {
  const kith::test::scratch_file file;
  std::ofstream(file.path()) << "no recording";
  EXPECT_EQ(kind_of([&] { kith::runtime rt(kith::test::make_options(1, "replay:file=" + file.path())); }),
            error_kind::input);
}

TEST(ErrorKind, OfARefusedFileIsResources) {
  kith::runtime_options o = one_worker();
  o.record = "/no/such/folder/run";
  EXPECT_EQ(kind_of([&] { kith::runtime rt(o); }), error_kind::resources);
}

TEST(ErrorKind, OfATaskWithoutAResultIsCancelled) {
  kith::runtime rt(one_worker());
  kith::future<void> never;
  EXPECT_THROW(rt.run([&] {
    never = kith::async([] {});
    throw 1;
  }),
               int);
  EXPECT_EQ(kind_of([&] { never.get(); }), error_kind::cancelled);
}

TEST(Options, OfZeroAndOfNoTextAreSettingsToo) {
  ::setenv("KITH_RECORD", "/no/such/folder/run", 1);
  ::setenv("KITH_MACHINE", "node:2 core:2", 1);
  kith::runtime_options o = one_worker();
  o.record = "";
  o.machine = "";
  {
    const kith::runtime rt(o);
    EXPECT_EQ(rt.recorded_in(), "");
    EXPECT_FALSE(rt.statistics().pretended);
  }
  ::unsetenv("KITH_RECORD");
  ::unsetenv("KITH_MACHINE");
}

TEST(Options, OfASeedWinOverTheVariable) {
  const auto seed_with = [](const kith::runtime_options& o) {
    return kith::test::record(o, [](kith::runtime& rt) { rt.run([] {}); }).meta["seed"];
  };
  ::setenv("KITH_SEED", "7", 1);
  kith::runtime_options o = one_worker();
  EXPECT_EQ(seed_with(o), "7");
  for (const char* seed : {"0", "3"}) {
    o.seed = std::stoul(seed);
    EXPECT_EQ(seed_with(o), seed);
  }
  ::unsetenv("KITH_SEED");
}

}  // namespace
