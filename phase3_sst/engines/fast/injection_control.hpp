// Injection control: the NICs of a job delay its chunks and send at no more than a rate R (run file: jobs[].injection).
// Each NIC is an independent rate limiter that uses only local information.
//
// A chunk of `bytes` that begins at t delays the NIC's next chunk until t + bytes / R. Against the line rate, this is a
// delay of bytes / R - bytes / line rate (Patke et al., "Delay sensitivity-driven congestion mitigation for HPC
// systems", ICS 2021 (Netscope), equation 13; here between chunks, there between messages). Waiting chunks keep their
// order. A NIC's own replies (clear to send, acknowledgements) are not delayed.
//
// - static: R is a fixed share of the line rate.
// - aimd: at the end of every window, with s the share of it in which the NIC's link was stalled for want of credits
//   (nic2hsn there), alpha <- (1 - gain) alpha + gain s (equation 14); then, if alpha > threshold,
//   R <- R (1 - alpha / (2 + sensitivity)), else R <- R + increase (equation 15), between `least` and the line rate.
//   The paper's condition is alpha > 0, which stays true for ever because the average decays exponentially. Sensitivity
//   0 is DCQCN's rate control. Windows are the same on all NICs and need no events: their ends are processed when a
//   chunk comes or a stall ends. This is exact, because a link's stalls between such moments are known.
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
  // Part of `network`; all arguments outlive this object. At least one job is controlled, and shares no node.
  InjectionControl(Network& network, EventQueue& events, const RunConfig& config);

  // A first chunk or its successor has come to its NIC (an event of kind Inject). True: it waits, and the same event
  // comes again, marked by its hop, when it may be sent.
  bool holds(const Event& event, std::uint32_t nic);

  // The link of a NIC begins to send again; call this before the ending stall is counted.
  void stall_ends(std::uint32_t nic);

  // The uses up to now.
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
    Picoseconds stalled{0};  // stall of the link at the end of the previous window
    Picoseconds next{0};     // earliest start of the next chunk
    bool turn_due{false};    // an event is pending for the first waiting chunk
    std::deque<Event> waiting;
    Picoseconds held_since{0};  // if turn_due
    double rate_time{0};        // R integrated over time, up to rate_since
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
