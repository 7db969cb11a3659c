// Injection control: the NICs of a job hold its chunks back, so that each sends at most at a rate R (run file:
// jobs[].injection). Each NIC decides for itself, by what it knows: it is a rate limiter of its own.
//
// A chunk of `bytes` that begins at t keeps the next chunk of the NIC until t + bytes / R: against the line rate, a
// delay of bytes / R - bytes / line rate (Patke et al., "Delay sensitivity-driven congestion mitigation for HPC
// systems", ICS 2021 (Netscope), equation 13, between chunks here in place of between messages). Chunks that wait keep
// their order. What a NIC answers by itself (clear to send, acknowledgements) is not held back.
//
// - static: R is a fixed share of the line rate.
// - aimd: at the end of every window, with s the share of it in which the NIC's link was stalled for want of credits
//   (nic2hsn there), alpha <- (1 - gain) alpha + gain s (equation 14); then, if alpha > threshold,
//   R <- R (1 - alpha / (2 + sensitivity)), else R <- R + increase (equation 15), between `least` and the line rate.
//   The paper has alpha > 0 for the threshold, which an average that decays exponentially never leaves. Sensitivity 0
//   is DCQCN's rate control. Windows are the same on all NICs; they take no events: their ends are caught up with when
//   a chunk comes or a stall ends, which is exact, because a link's stalls between such moments are known.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "event_queue.hpp"
#include "link.hpp"
#include "replica_result.hpp"
#include "run_config.hpp"

namespace manynode::network {

class Network;

class InjectionControl {
 public:
  // Part of `network`; both outlive this object. At least one job is controlled, and has its nodes for itself.
  InjectionControl(Network& network, EventQueue& events, const RunConfig& config);

  // A first chunk or its successor has come to its NIC (an event of kind Inject). True: it waits, and will come again
  // as the same event, marked by its hop, when it is its turn.
  bool holds(const Event& event, std::uint32_t nic);

  // The link of a NIC begins to send again: to be told before its counter has the stall that ends.
  void stall_ends(std::uint32_t nic);

  // Up to now.
  std::vector<InjectionUse> uses();

 private:
  // One NIC.
  struct Limiter {
    const InjectionConfig* config{nullptr};  // null: not controlled
    std::uint32_t job{0};
    LinkId link{0};
    double rate{0};
    double alpha{0};
    Picoseconds window_end{0};
    Picoseconds stalled{0};  // of the link, at the end of the window before
    Picoseconds next{0};     // no chunk begins before
    bool turn_due{false};    // the first of those that wait is among the events
    std::deque<Event> waiting;
    Picoseconds held_since{0};  // if turn_due
    double rate_time{0};        // R integrated over time, up to where rate_since is
    Picoseconds rate_since{0};
    InjectionUse use;
  };

  void take_turn(Limiter& limiter, const Event& event);
  void catch_up(Limiter& limiter, Picoseconds now);
  void end_window(Limiter& limiter);
  void set_rate(Limiter& limiter, double rate, Picoseconds time);

  Network& network_;
  EventQueue& events_;
  double line_rate_;
  std::vector<Limiter> limiters_;  // [nic]
};

}  // namespace manynode::network
