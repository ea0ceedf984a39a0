#include "places/message.hpp"

#include <cstring>

namespace kith::distributed {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw error("message: " + what, error_kind::input); }

}  // namespace

void seal(detail::byte_buffer& message, message_header h) {
  h.payload = message.size() - sizeof h;
  std::memcpy(message.data(), &h, sizeof h);
}

void seal(detail::packed_arguments& message, message_header h) {
  h.payload = message.size() - sizeof h;
  std::memcpy(message.buffer.data(), &h, sizeof h);
}

detail::byte_buffer sealed(const message_header& h) {
  detail::byte_buffer message(sizeof h);
  seal(message, h);
  return message;
}

detail::byte_buffer sealed(message_header h, const failure& why) {
  h.flags |= message_header::failed;
  detail::byte_buffer message(sizeof h);
  detail::output_archive to(message);
  detail::put(to, why.place);
  detail::put(to, static_cast<std::uint32_t>(why.cancelled));
  detail::put(to, static_cast<std::uint32_t>(why.lost));
  detail::put<std::string>(to, why.what);
  seal(message, h);
  return message;
}

failure read_failure(std::span<const std::byte> payload) {
  detail::input_archive from(payload);
  failure why;
  why.place = detail::get<std::uint32_t>(from);
  why.cancelled = detail::get<std::uint32_t>(from) != 0;
  why.lost = detail::get<std::uint32_t>(from) != 0;
  why.what = detail::get<std::string>(from);
  from.expect_end();
  return why;
}

message_header decode(std::span<const std::byte> message, std::uint32_t places, std::uint32_t functions) {
  message_header h;
  if (message.size() < sizeof h) {
    refuse("truncated: " + std::to_string(message.size()) + " bytes; a header has " + std::to_string(sizeof h));
  }
  std::memcpy(&h, message.data(), sizeof h);
  if (h.version != message_header::current) {
    refuse("version " + std::to_string(h.version) + ", expected " + std::to_string(message_header::current) +
           "; all places must run the same program");
  }
  if (h.kind < message_kind::spawn || h.kind > message_kind::combined)
    refuse("unknown kind " + std::to_string(static_cast<int>(h.kind)));
  if ((h.flags & ~message_header::all_flags) != 0) refuse("unknown flags " + std::to_string(h.flags));
  if (h.payload != message.size() - sizeof h) {
    refuse("truncated: " + std::to_string(h.payload) + " bytes announced, " +
           std::to_string(message.size() - sizeof h) + " are there");
  }
  if (h.from >= places || h.finish_home >= places) {
    refuse("place " + std::to_string(h.from >= places ? h.from : h.finish_home) + "; there are " +
           std::to_string(places));
  }
  if (h.kind == message_kind::spawn && (h.function == 0 || h.function > functions)) {
    refuse("unknown function " + std::to_string(h.function) + "; this program has " + std::to_string(functions) +
           ", numbered from 1");
  }
  if (h.kind == message_kind::spawn && h.has(message_header::idempotent) && h.result == 0)
    refuse("an idempotent activity without a result");
  return h;
}

}  // namespace kith::distributed
