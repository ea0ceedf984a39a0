// The type R(P...) of a function or of a call operator.
#pragma once

namespace kith::detail {

template <class F>
struct plain_call_of {};
template <class R, class... P>
struct plain_call_of<R(P...)> {
  using type = R(P...);
};
template <class R, class... P>
struct plain_call_of<R(P...) noexcept> : plain_call_of<R(P...)> {};
template <class R, class... P>
struct plain_call_of<R (*)(P...)> : plain_call_of<R(P...)> {};
template <class R, class... P>
struct plain_call_of<R (*)(P...) noexcept> : plain_call_of<R(P...)> {};
template <class C, class R, class... P>
struct plain_call_of<R (C::*)(P...)> : plain_call_of<R(P...)> {};
template <class C, class R, class... P>
struct plain_call_of<R (C::*)(P...) const> : plain_call_of<R(P...)> {};
template <class C, class R, class... P>
struct plain_call_of<R (C::*)(P...) noexcept> : plain_call_of<R(P...)> {};
template <class C, class R, class... P>
struct plain_call_of<R (C::*)(P...) const noexcept> : plain_call_of<R(P...)> {};

/// A function object has one if it has one call operator, which is no template.
template <class F>
  requires requires { &F::operator(); }
struct plain_call_of<F> : plain_call_of<decltype(&F::operator())> {};

template <class F>
using plain_call = typename plain_call_of<F>::type;

}  // namespace kith::detail
