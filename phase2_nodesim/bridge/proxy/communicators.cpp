// Creating and freeing communicators, and what only the native library knows of topologies.
#include "constants.hpp"
#include "proxy.hpp"

namespace manynode::bridge {

Proxy::Communicator& Proxy::comm_of(std::int64_t number) {
  if (number <= MB_COMM_NULL || number >= static_cast<std::int64_t>(communicators_.size()) ||
      communicators_[static_cast<std::size_t>(number)].comm == MPI_COMM_NULL) {
    throw GuestLost("its guest used a communicator that does not exist");
  }
  return communicators_[static_cast<std::size_t>(number)];
}

// Gives a new communicator the lowest free number and tells the guest who is in it.
void Proxy::add_communicator(MPI_Comm comm, Reply& reply) {
  reply.header.word[MB_R_COMM] = MB_COMM_NULL;
  if (comm == MPI_COMM_NULL) {
    return;
  }
  std::size_t number = MB_FIRST_COMM;
  while (number < communicators_.size() && communicators_[number].comm != MPI_COMM_NULL) {
    ++number;
  }
  if (number == communicators_.size()) {
    communicators_.emplace_back();
  }
  Communicator& added = communicators_[number];
  added = Communicator();
  added.comm = comm;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &members);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks;
  for (int i = 0; i < size; ++i) {
    ranks.push_back(i);
  }
  added.world_ranks.resize(static_cast<std::size_t>(size));
  MPI_Group_translate_ranks(members, size, ranks.data(), world, added.world_ranks.data());
  MPI_Group_free(&members);
  MPI_Group_free(&world);
  for (int i = 0; i < size; ++i) {
    added.external = added.external || is_external(static_cast<std::int64_t>(number), i);
  }
  reply.header.word[MB_R_COMM] = static_cast<std::int64_t>(number);
  reply.header.word[MB_R_RANK] = rank;
  reply.list.assign(added.world_ranks.begin(), added.world_ranks.end());
}

void Proxy::communicator(const Request& request, Reply& reply) {
  const MPI_Comm comm = comm_of(request.word(0)).comm;
  const std::vector<int> list(request.list.begin(), request.list.end());
  MPI_Comm made = MPI_COMM_NULL;
  int result = MPI_SUCCESS;
  switch (request.header.call) {
    case MB_Comm_dup:
      result = MPI_Comm_dup(comm, &made);
      break;
    case MB_Comm_split:
      result = MPI_Comm_split(comm, request.word(1) == MB_UNDEFINED ? MPI_UNDEFINED : static_cast<int>(request.word(1)),
                              static_cast<int>(request.word(2)), &made);
      break;
    case MB_Comm_create: {
      MPI_Group world = MPI_GROUP_NULL;
      MPI_Group members = MPI_GROUP_NULL;
      MPI_Comm_group(MPI_COMM_WORLD, &world);
      MPI_Group_incl(world, static_cast<int>(list.size()), list.data(), &members);
      result = MPI_Comm_create(comm, members, &made);
      if (members != MPI_GROUP_EMPTY) {
        MPI_Group_free(&members);
      }
      MPI_Group_free(&world);
      break;
    }
    case MB_Comm_free: {
      Communicator& freed = comm_of(request.word(0));
      result = MPI_Comm_free(&freed.comm);
      break;
    }
    case MB_Cart_create: {
      const int ndims = static_cast<int>(list.size() / 2);
      result = MPI_Cart_create(comm, ndims, list.data(), list.data() + ndims, static_cast<int>(request.word(1)), &made);
      break;
    }
    default:
      result = MPI_Cart_sub(comm, list.data(), &made);
      break;
  }
  reply.header.word[MB_R_RESULT] = wire_error(result);
  if (result == MPI_SUCCESS && request.header.call != MB_Comm_free) {
    add_communicator(made, reply);
  }
}

void Proxy::dims_create(const Request& request, Reply& reply) {
  std::vector<int> dims(request.list.begin(), request.list.end());
  reply.header.word[MB_R_RESULT] =
      wire_error(MPI_Dims_create(static_cast<int>(request.word(0)), static_cast<int>(dims.size()), dims.data()));
  reply.list.assign(dims.begin(), dims.end());
}

}  // namespace manynode::bridge
