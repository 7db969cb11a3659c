#include "whole_packets.hpp"

#include <algorithm>
#include <cmath>

namespace manynode::link_control {

namespace {

// The end of a packet of this virtual network.
class Tail final : public SST::Event {
 public:
  explicit Tail(int network) : network(network) {}
  int network;

  NotSerializable(Tail)
};

}  // namespace

WholePackets::WholePackets(SST::ComponentId_t id, SST::Params& /*parameters*/, int virtual_networks)
    : SimpleNetwork(id),
      arriving_(index(virtual_networks)),
      whole_(index(virtual_networks)),
      order_(index(virtual_networks)),
      last_tail_(index(virtual_networks)) {
  inner_ = loadUserSubComponent<SimpleNetwork>("networkIF", SST::ComponentInfo::SHARE_NONE, virtual_networks);
  if (inner_ == nullptr) {
    getSimulationOutput().fatal(CALL_INFO, 1, "manynodelink.WholePackets: the slot networkIF is empty\n");
  }
  tails_ = configureSelfLink("tails", "1ps", new SST::Event::Handler<WholePackets, &WholePackets::tail_arrived>(this));
}

void WholePackets::init(unsigned int phase) {
  // Here and not in setup(), which firefly's NIC does not forward.
  if (phase == 0) {
    inner_->setNotifyOnReceive(new SimpleNetwork::Handler<WholePackets, &WholePackets::head_arrived>(this));
  }
  inner_->init(phase);
  // The two ends of the link have agreed on the rate once the network is initialised.
  if (isNetworkInitialized()) picoseconds_per_bit_ = 1e12 / getLinkBW().getDoubleValue();
}

void WholePackets::finish() {
  inner_->finish();
  for (MessageOrder& order : order_) order.clear();
  for (auto* queues : {&arriving_, &whole_}) {
    for (auto& queue : *queues) {
      for (Request* request : queue) delete request;
      queue.clear();
    }
  }
}

bool WholePackets::head_arrived(int network) {
  // The link leaves room for the tail of one packet before the head of the next. Packets reordered on the path may
  // arrive together.
  const SST::SimTime_t now = getCurrentSimCycle();
  SST::SimTime_t& last = last_tail_[index(network)];
  while (Request* request = inner_->recv(network)) {
    arriving_[index(network)].push_back(request);
    last =
        std::max(last, now + static_cast<SST::SimTime_t>(std::llround(picoseconds_per_bit_ * request->size_in_bits)));
    tails_->send(last - now, new Tail(network));
  }
  return true;
}

void WholePackets::tail_arrived(SST::Event* event) {
  const int network = static_cast<Tail*>(event)->network;
  delete event;
  auto& arriving = arriving_[index(network)];
  auto& whole = whole_[index(network)];
  order_[index(network)].take(arriving.front(), whole);
  arriving.pop_front();
  if (!whole.empty() && notify_ != nullptr && !(*notify_)(network)) notify_ = nullptr;
}

SimpleNetwork::Request* WholePackets::recv(int network) {
  auto& whole = whole_[index(network)];
  if (whole.empty()) return nullptr;
  Request* request = whole.front();
  whole.pop_front();
  return request;
}

}  // namespace manynode::link_control
