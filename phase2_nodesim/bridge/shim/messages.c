/* Point-to-point calls. The data of a send travels with its request; the proxy keeps a copy until the send is complete.
 */
#include "shim.h"

/* Words of the message's envelope. */
static void envelope(struct mb_call* call, MPI_Comm comm, int peer, int tag, const struct mb_buffer* buffer) {
  call->request.word[MB_P_COMM] = comm;
  call->request.word[MB_P_PEER] = peer;
  call->request.word[MB_P_TAG] = tag;
  call->request.word[MB_P_COUNT] = mb_elements(buffer);
  call->request.word[MB_P_TYPE] = buffer->type->basic;
}

static void status_from_reply(const struct mb_call* call, MPI_Status* status) {
  const int64_t* word = call->reply.word;
  mb_set_status(status, word[MB_R_SOURCE], word[MB_R_TAG], word[MB_R_RESULT], word[MB_R_BYTES]);
}

static bool known(const char* name, MPI_Comm comm) {
  if (mb_comm_of(comm)) return true;
  mb_wrong(name, MPI_ERR_COMM, "no such communicator (%d)", comm);
  return false;
}

static int send_now(struct mb_call* call, const void* buf, int count, MPI_Datatype datatype, int dest, int tag,
                    MPI_Comm comm) {
  const char* name = mb_call_names[call->request.call];
  struct mb_buffer data;
  if (!known(name, comm)) return MPI_ERR_COMM;
  if (!mb_buffer_of(&data, name, buf, count, datatype)) return MPI_ERR_TYPE;
  envelope(call, comm, dest, tag, &data);
  mb_request(call, NULL, 0, &data);
  mb_reply(call);
  return mb_leave(call);
}

#define SEND(name)                                                                                      \
  int MPI_##name(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) { \
    MB_ENTER(name);                                                                                     \
    return send_now(&call, buf, count, datatype, dest, tag, comm);                                      \
  }
SEND(Send)
SEND(Ssend)
SEND(Rsend)

int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MB_ENTER(Recv);
  struct mb_buffer data;
  if (!known("MPI_Recv", comm)) return MPI_ERR_COMM;
  if (!mb_buffer_of(&data, "MPI_Recv", buf, count, datatype)) return MPI_ERR_TYPE;
  envelope(&call, comm, source, tag, &data);
  mb_guest.receive = data;
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  mb_take_received(&data, call.reply.payload_bytes, call.reply.word[MB_R_EXTERNAL]);
  status_from_reply(&call, status);
  return mb_leave(&call);
}

int MPI_Sendrecv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  MB_ENTER(Sendrecv);
  struct mb_buffer out, in;
  if (!known("MPI_Sendrecv", comm)) return MPI_ERR_COMM;
  if (!mb_buffer_of(&out, "MPI_Sendrecv", sendbuf, sendcount, sendtype)) return MPI_ERR_TYPE;
  if (!mb_buffer_of(&in, "MPI_Sendrecv", recvbuf, recvcount, recvtype)) return MPI_ERR_TYPE;
  envelope(&call, comm, dest, sendtag, &out);
  call.request.word[MB_P_SOURCE] = source;
  call.request.word[MB_P_RECV_TAG] = recvtag;
  call.request.word[MB_P_RECV_COUNT] = mb_elements(&in);
  call.request.word[MB_P_RECV_TYPE] = in.type->basic;
  mb_guest.receive = in;
  mb_request(&call, NULL, 0, &out);
  mb_reply(&call);
  mb_take_received(&in, call.reply.payload_bytes, call.reply.word[MB_R_EXTERNAL]);
  status_from_reply(&call, status);
  return mb_leave(&call);
}

int MPI_Sendrecv_replace(void* buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                         MPI_Comm comm, MPI_Status* status) {
  MB_ENTER(Sendrecv_replace);
  struct mb_buffer data;
  if (!known("MPI_Sendrecv_replace", comm)) return MPI_ERR_COMM;
  if (!mb_buffer_of(&data, "MPI_Sendrecv_replace", buf, count, datatype)) return MPI_ERR_TYPE;
  envelope(&call, comm, dest, sendtag, &data);
  call.request.word[MB_P_SOURCE] = source;
  call.request.word[MB_P_RECV_TAG] = recvtag;
  call.request.word[MB_P_RECV_COUNT] = mb_elements(&data);
  call.request.word[MB_P_RECV_TYPE] = data.type->basic;
  mb_guest.receive = data;
  mb_request(&call, NULL, 0, &data);
  mb_reply(&call);
  mb_take_received(&data, call.reply.payload_bytes, call.reply.word[MB_R_EXTERNAL]);
  status_from_reply(&call, status);
  return mb_leave(&call);
}

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MB_ENTER(Probe);
  if (!known("MPI_Probe", comm)) return MPI_ERR_COMM;
  call.request.word[MB_P_COMM] = comm;
  call.request.word[MB_P_PEER] = source;
  call.request.word[MB_P_TAG] = tag;
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  status_from_reply(&call, status);
  return mb_leave(&call);
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  MB_ENTER(Iprobe);
  if (!known("MPI_Iprobe", comm)) return MPI_ERR_COMM;
  call.request.word[MB_P_COMM] = comm;
  call.request.word[MB_P_PEER] = source;
  call.request.word[MB_P_TAG] = tag;
  mb_request(&call, NULL, 0, NULL);
  mb_reply(&call);
  *flag = (int)call.reply.word[MB_R_FLAG];
  if (*flag) status_from_reply(&call, status);
  return mb_leave(&call);
}

/* Non-blocking and persistent calls: `sending` says which of the two buffers the request has. */
static int post(struct mb_call* call, bool sending, bool persistent, void* buf, int count, MPI_Datatype datatype,
                int peer, int tag, MPI_Comm comm, MPI_Request* request) {
  const char* name = mb_call_names[call->request.call];
  struct mb_buffer data;
  if (!known(name, comm)) return MPI_ERR_COMM;
  if (!mb_buffer_of(&data, name, buf, count, datatype)) return MPI_ERR_TYPE;
  envelope(call, comm, peer, tag, &data);
  *request = mb_new_request(sending ? &data : NULL, sending ? NULL : &data, persistent);
  call->request.word[MB_P_REQUEST] = *request;
  mb_request(call, NULL, 0, sending && !persistent ? &data : NULL);
  mb_reply(call);
  if (call->reply.word[MB_R_RESULT] != MPI_SUCCESS) {
    mb_drop_request(*request);
    *request = MPI_REQUEST_NULL;
  }
  return mb_leave(call);
}

#define POST(name, pointer, sending, persistent)                                                    \
  int MPI_##name(pointer buf, int count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,   \
                 MPI_Request* request) {                                                            \
    MB_ENTER(name);                                                                                 \
    return post(&call, sending, persistent, (void*)buf, count, datatype, peer, tag, comm, request); \
  }
POST(Isend, const void*, true, false)
POST(Issend, const void*, true, false)
POST(Irsend, const void*, true, false)
POST(Irecv, void*, false, false)
POST(Send_init, const void*, true, true)
POST(Ssend_init, const void*, true, true)
POST(Rsend_init, const void*, true, true)
POST(Recv_init, void*, false, true)
