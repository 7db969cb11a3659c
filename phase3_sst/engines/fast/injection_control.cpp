#include "injection_control.hpp"

#include <algorithm>
#include <cmath>

#include "network.hpp"

namespace manynode::network {

namespace {

// Event::hop of a chunk whose turn has come; chunks that arrive at their NIC have passed no hop.
constexpr std::uint8_t kItsTurn = 1;

// A lower average counts as zero; a NIC at line rate then need not check its windows one by one.
constexpr double kForgotten = 1e-9;

// kBeyondTime for a rate near zero.
Picoseconds time_of(std::uint64_t bytes, double rate_Bps) {
  const double time = static_cast<double>(bytes) / rate_Bps * 1e12;
  return time <= static_cast<double>(kEndOfTime) ? std::llrint(time) : kBeyondTime;
}

}  // namespace

InjectionControl::InjectionControl(Network& network, EventQueue& events, const RunConfig& config)
    : network_(network),
      events_(events),
      line_rate_(config.network.line_rate_Bps()),
      limiters_(config.network.topology->hosts()) {
  const std::uint32_t rails = config.network.host.rails;
  for (std::uint32_t number = 0; number < config.jobs.size(); ++number) {
    const JobConfig& job = config.jobs[number];
    if (job.injection.kind == InjectionKind::None) continue;
    for (std::uint32_t node = 0; node < job.nodes; ++node) {
      const std::uint32_t host = job.hosts.empty() ? node : job.hosts[node];
      for (std::uint32_t rail = 0; rail < rails; ++rail) {
        const std::uint32_t nic = config.network.host.nic(host, rail);
        Limiter& limiter = limiters_[nic];
        limiter.config = &job.injection;
        limiter.job = number;
        limiter.link = network_.first_link(nic);
        limiter.rate = job.injection.kind == InjectionKind::Static ? job.injection.share * line_rate_ : line_rate_;
        limiter.window_end = to_picoseconds(job.injection.window_s);
        limiter.use = {number, nic, 0, 0, 0, 0, limiter.rate};
      }
    }
  }
}

bool InjectionControl::holds(const Event& event, std::uint32_t nic) {
  Limiter& limiter = limiters_[nic];
  if (limiter.config == nullptr || network_.messages()[event.subject].backwards()) return false;
  if (event.hop != kItsTurn) {
    if (limiter.turn_due) {
      limiter.waiting.push_back(event);
      return true;
    }
    if (limiter.next > event.time) {
      limiter.turn_due = true;
      limiter.held_since = event.time;
      events_.push(event, limiter.next).hop = kItsTurn;
      return true;
    }
  }
  take_turn(limiter, event);
  return false;
}

void InjectionControl::take_turn(Limiter& limiter, const Event& event) {
  const Picoseconds now = event.time;
  catch_up(limiter, now);
  limiter.use.bytes += event.bytes;
  // At line rate the NIC itself is the limit.
  limiter.next = limiter.rate < line_rate_ ? later(now, time_of(event.bytes, limiter.rate)) : now;
  if (event.hop != kItsTurn) return;
  limiter.use.held_bytes += event.bytes;
  if (limiter.waiting.empty()) {
    limiter.turn_due = false;
    limiter.use.held += now - limiter.held_since;
    return;
  }
  const Event first = limiter.waiting.front();
  limiter.waiting.pop_front();
  events_.push(first, limiter.next).hop = kItsTurn;
}

void InjectionControl::stall_ends(std::uint32_t nic) {
  if (limiters_[nic].config != nullptr) catch_up(limiters_[nic], events_.now());
}

void InjectionControl::catch_up(Limiter& limiter, Picoseconds now) {
  if (limiter.config->kind != InjectionKind::Aimd) return;
  const Picoseconds window = to_picoseconds(limiter.config->window_s);
  while (limiter.window_end <= now) {
    const bool calm = limiter.rate >= line_rate_ && limiter.alpha < kForgotten;
    if (calm && network_.stalls(limiter.link, now).credit == limiter.stalled) {
      limiter.alpha = 0;
      limiter.window_end += ((now - limiter.window_end) / window + 1) * window;
      return;
    }
    end_window(limiter);
    limiter.window_end += window;
  }
}

void InjectionControl::end_window(Limiter& limiter) {
  const InjectionConfig& config = *limiter.config;
  const Picoseconds stalled = network_.stalls(limiter.link, limiter.window_end).credit;
  const double share = to_seconds(stalled - limiter.stalled) / config.window_s;
  limiter.stalled = stalled;
  limiter.alpha = (1 - config.gain) * limiter.alpha + config.gain * share;
  const double rate = limiter.alpha > config.threshold ? limiter.rate * (1 - limiter.alpha / (2 + config.sensitivity))
                                                       : limiter.rate + config.increase * line_rate_;
  set_rate(limiter, std::clamp(rate, config.least * line_rate_, line_rate_), limiter.window_end);
}

void InjectionControl::set_rate(Limiter& limiter, double rate, Picoseconds time) {
  limiter.rate_time += limiter.rate * to_seconds(time - limiter.rate_since);
  limiter.rate_since = time;
  limiter.rate = rate;
  limiter.use.rate_least_Bps = std::min(limiter.use.rate_least_Bps, rate);
}

std::vector<InjectionUse> InjectionControl::uses() {
  const Picoseconds now = events_.now();
  std::vector<InjectionUse> found;
  for (Limiter& limiter : limiters_) {
    if (limiter.config == nullptr) continue;
    catch_up(limiter, now);
    set_rate(limiter, limiter.rate, now);
    InjectionUse use = limiter.use;
    if (limiter.turn_due) use.held += now - limiter.held_since;
    use.rate_mean_Bps = now > 0 ? limiter.rate_time / to_seconds(now) : limiter.rate;
    found.push_back(use);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const InjectionUse& a, const InjectionUse& b) { return a.job < b.job; });
  return found;
}

}  // namespace manynode::network
