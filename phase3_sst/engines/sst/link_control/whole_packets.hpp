// A link control between a NIC and merlin's link control that delivers packets when they are complete.
//
// merlin models cut-through: a packet appears behind a link with its head, and the link stays busy for the tail. This
// is right at a switch but wrong at the end of a route: a message would be complete before its last packet has arrived,
// by 0.8 us for 2 KiB at 20 Gbit/s. Here a packet from the network waits for its own tail. All other calls go unchanged
// to the link control in the slot "networkIF".
#pragma once

#include <deque>
#include <vector>

#include <sst/core/event.h>
#include <sst/core/interfaces/simpleNetwork.h>
#include <sst/core/link.h>
#include <sst/core/subcomponent.h>
#include <sst/core/unitAlgebra.h>

#include "message_order.hpp"

namespace manynode::link_control {

using SST::Interfaces::SimpleNetwork;

class WholePackets final : public SimpleNetwork {
 public:
  SST_ELI_REGISTER_SUBCOMPONENT(WholePackets, "manynodelink", "WholePackets", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                                "Hands packets to the NIC when their tails have arrived",
                                SST::Interfaces::SimpleNetwork)

  SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS({"networkIF", "The link control of the network",
                                       "SST::Interfaces::SimpleNetwork"})

  WholePackets(SST::ComponentId_t id, SST::Params& parameters, int virtual_networks);

  void init(unsigned int phase) override;
  void setup() override { inner_->setup(); }
  void complete(unsigned int phase) override { inner_->complete(phase); }
  void finish() override;

  void sendUntimedData(Request* request) override { inner_->sendUntimedData(request); }
  Request* recvUntimedData() override { return inner_->recvUntimedData(); }
  bool send(Request* request, int network) override { return inner_->send(request, network); }
  bool spaceToSend(int network, int bits) override { return inner_->spaceToSend(network, bits); }
  Request* recv(int network) override;
  bool requestToReceive(int network) override { return !whole_[index(network)].empty(); }
  void setNotifyOnReceive(HandlerBase* functor) override { notify_ = functor; }
  void setNotifyOnSend(HandlerBase* functor) override { inner_->setNotifyOnSend(functor); }
  bool isNetworkInitialized() const override { return inner_->isNetworkInitialized(); }
  nid_t getEndpointID() const override { return inner_->getEndpointID(); }
  const SST::UnitAlgebra& getLinkBW() const override { return inner_->getLinkBW(); }

 private:
  bool head_arrived(int network);
  void tail_arrived(SST::Event* event);
  static std::size_t index(int network) { return static_cast<std::size_t>(network); }

  SimpleNetwork* inner_;
  SST::Link* tails_;
  HandlerBase* notify_{nullptr};
  double picoseconds_per_bit_{0};
  // Per virtual network, in the order of arrival.
  std::vector<std::deque<Request*>> arriving_;
  std::vector<std::deque<Request*>> whole_;
  std::vector<MessageOrder> order_;
  std::vector<SST::SimTime_t> last_tail_;
};

}  // namespace manynode::link_control
