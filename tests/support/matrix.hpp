// The matrix of tests for every policy: policy x number of workers x machine. A policy in the list is part of it.
#pragma once

#include "policy/list.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kith::test {

struct setup {
  std::string policy;
  int workers;
  std::string machine;  // "": this machine

  runtime_options options() const {
    runtime_options o;
    o.policy = policy;
    o.workers = workers;
    o.machine = machine;
    o.oversubscribe = true;
    return o;
  }
};

inline void PrintTo(const setup& s, std::ostream* out) { *out << s.policy << " on " << s.workers << " " << s.machine; }

/// Every policy of the list, none of which needs a file, and variants by options.
inline std::vector<std::string> policies_and_variants() {
  std::vector<std::string> policies;
  for (const policy_entry& p : policy_list()) {
    policies.emplace_back(p.name);
  }
  for (const char* variant :
       {"steal:victim=random,batch=1,patience=off,keeps=feeder", "steal:victim=cyclic,end=fifo", "steal:follows=own",
        "dep:order=created,steal=nearest", "socket:steal=nearest,backlog=3,queue=node",
        "rip-dep:steal=nearest,backlog=2,queue=node", "rip-mw:window=16,steal=nearest,queue=node", "numa:queue=node",
        "auto:window=auto", "dfifo:steal=off", "nabbitc:first=off,morph=off,attempts=1", "nabbitc:colors=data",
        "nabbitc:colors=node,budget=1", "token:organisation=global", "reference:organisation=global,kept=filters",
        "reference:history=2,ahead=on,grouped=on", "fifo:organisation=deques", "random:organisation=deques,cap=200",
        "source:organisation=global"}) {
    policies.emplace_back(variant);
  }
  return policies;
}

inline std::vector<setup> matrix() {
  std::vector<setup> all;
  for (const std::string& p : policies_and_variants()) {
    for (int workers : {1, 2, 5}) all.push_back({p, workers, ""});
    all.push_back({p, 6, "node:3 core:2"});
  }
  return all;
}

inline std::string name_of(const testing::TestParamInfo<setup>& info) {
  std::string name =
      info.param.policy + "_" + std::to_string(info.param.workers) + (info.param.machine.empty() ? "" : "_numa");
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace kith::test

/// TEST_P(suite, ...) for a class derived from testing::TestWithParam<kith::test::setup>.
#define KITH_FOR_ALL_POLICIES(suite) \
  INSTANTIATE_TEST_SUITE_P(all, suite, testing::ValuesIn(kith::test::matrix()), kith::test::name_of)
