/* Messages, requests and collectives, and what concerns the environment. */
#include "bridge_calls.h"

static void messages(void) {
  double a[N], b[N];
  MPI_Status status;
  int flag;
  fill(a, N);
  for (int kind = 0; kind < 3; kind++) { /* ready sends need their receive: it is posted before the barrier */
    MPI_Request request;
    memset(b, 0, sizeof b);
    MPI_Irecv(b, N, MPI_DOUBLE, left, kind, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind == 0) MPI_Send(a, N - kind, MPI_DOUBLE, right, kind, MPI_COMM_WORLD);
    if (kind == 1) MPI_Ssend(a, N - kind, MPI_DOUBLE, right, kind, MPI_COMM_WORLD);
    if (kind == 2) MPI_Rsend(a, N - kind, MPI_DOUBLE, right, kind, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    say("null", "%d", request == MPI_REQUEST_NULL);
    say_status("MPI_Wait", &status, MPI_DOUBLE);
    say_doubles("MPI_Irecv", b, N);
  }
  memset(b, 0, sizeof b);
  if (rank % 2 == 0) {
    MPI_Send(a, 3, MPI_DOUBLE, right, 5, MPI_COMM_WORLD);
    MPI_Recv(b, N, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  } else {
    MPI_Recv(b, N, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
    MPI_Send(a, 3, MPI_DOUBLE, right, 5, MPI_COMM_WORLD);
  }
  say_status("MPI_Recv", &status, MPI_DOUBLE);
  say_doubles("MPI_Recv", b, N);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(b, N, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &status);
  int nothing; /* its source is not looked at: the markers' polite MPI_Recv gets it wrong from MPICH 4.0 */
  MPI_Get_count(&status, MPI_DOUBLE, &nothing);
  say("MPI_Recv from MPI_PROC_NULL", "%d", nothing);
#ifdef MANYNODE_BRIDGE
  if (status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG) say("wrong status", "");
#endif
  MPI_Send(a, N, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
  MPI_Sendrecv(a, 4, MPI_DOUBLE, right, 6, b, N, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &status);
  say_status("MPI_Sendrecv", &status, MPI_DOUBLE);
  say_doubles("MPI_Sendrecv", b, 4);
  MPI_Sendrecv_replace(b, 4, MPI_DOUBLE, right, 7, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  say_doubles("MPI_Sendrecv_replace", b, 4);
  MPI_Request sending;
  MPI_Isend(a, 2, MPI_DOUBLE, right, 8, MPI_COMM_WORLD, &sending);
  MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  say_status("MPI_Probe", &status, MPI_DOUBLE);
  MPI_Iprobe(left, 8, MPI_COMM_WORLD, &flag, &status);
  say("MPI_Iprobe", "%d", flag);
  MPI_Recv(b, N, MPI_DOUBLE, left, 8, MPI_COMM_WORLD, &status);
  MPI_Iprobe(left, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  say("MPI_Iprobe", "%d", flag);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void large_messages(void) {
  static char out[LARGE], in[LARGE];
  for (int i = 0; i < LARGE; i++) out[i] = (char)(i * 7 + rank);
  MPI_Sendrecv(out, LARGE, MPI_CHAR, right, 1, in, LARGE, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < LARGE; i++) wrong += in[i] != (char)(i * 7 + left);
  say("large", "%d", wrong);
  /* unaligned, beside memory that must stay as it is */
  memset(in, 55, LARGE);
  MPI_Sendrecv(out + 3, 1001, MPI_CHAR, right, 1, in + 13, 1001, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong = 0;
  for (int i = 0; i < 1001; i++) wrong += in[13 + i] != (char)((i + 3) * 7 + left);
  for (int i = 0; i < 13; i++) wrong += in[i] != 55;
  for (int i = 1014; i < 2000; i++) wrong += in[i] != 55;
  say("unaligned", "%d", wrong);
}

static void requests(void) {
  double a[N], b[4][N];
  MPI_Request q[6];
  MPI_Status statuses[6], status;
  int flag = 0, index, outcount, indices[6];
  fill(a, N);
  for (int i = 0; i < 3; i++) MPI_Irecv(b[i], N, MPI_DOUBLE, i == 2 ? MPI_ANY_SOURCE : left, i, MPI_COMM_WORLD, &q[i]);
  MPI_Isend(a, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &q[3]);
  MPI_Issend(a, 2, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &q[4]);
  MPI_Isend(a, 3, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &q[5]);
  MPI_Waitall(6, q, statuses);
  for (int i = 0; i < 3; i++) {
    say_status("MPI_Waitall", &statuses[i], MPI_DOUBLE);
    say_doubles("MPI_Waitall", b[i], i + 1);
  }
  MPI_Waitall(6, q, statuses);
  say_status("MPI_Waitall of null requests", &statuses[0], MPI_DOUBLE);
  MPI_Waitany(6, q, &index, &status);
  say("MPI_Waitany of null requests", "%d", index == MPI_UNDEFINED);
  MPI_Waitsome(6, q, &outcount, indices, statuses);
  say("MPI_Waitsome of null requests", "%d", outcount == MPI_UNDEFINED);
  MPI_Testall(6, q, &flag, MPI_STATUSES_IGNORE);
  say("MPI_Testall of null requests", "%d", flag);
  MPI_Testany(6, q, &index, &flag, &status);
  say("MPI_Testany of null requests", "%d %d", flag, index == MPI_UNDEFINED);

  /* one after the other, whatever comes first */
  for (int i = 0; i < 4; i++) MPI_Irecv(b[i], N, MPI_DOUBLE, left, 10 + i, MPI_COMM_WORLD, &q[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Test(&q[0], &flag, &status);
  say("MPI_Test before anything was sent", "%d", flag);
  MPI_Testall(4, q, &flag, statuses);
  say("MPI_Testall before anything was sent", "%d", flag);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) MPI_Send(a + i, 1, MPI_DOUBLE, right, 10 + i, MPI_COMM_WORLD);
  MPI_Waitany(4, q, &index, &status);
  say("MPI_Waitany", "%d", index >= 0 && index < 4 && status.MPI_TAG == 10 + index);
  flag = 0;
  int done = index;
  while (!flag) MPI_Testany(4, q, &index, &flag, &status);
  say("MPI_Testany", "%d", index != done && status.MPI_TAG == 10 + index);
  MPI_Waitsome(4, q, &outcount, indices, statuses);
  int got = outcount;
  for (int i = 0; i < outcount; i++) flag = flag && statuses[i].MPI_TAG == 10 + indices[i];
  while (got < 2) {
    MPI_Testsome(4, q, &outcount, indices, statuses);
    for (int i = 0; i < outcount; i++) flag = flag && statuses[i].MPI_TAG == 10 + indices[i];
    got += outcount;
  }
  say("MPI_Waitsome and MPI_Testsome", "%d %d", got, flag);
  for (int i = 0; i < 4; i++) say_doubles("in their places", b[i], 1);
  MPI_Irecv(b[0], N, MPI_DOUBLE, left, 20, MPI_COMM_WORLD, &q[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Irsend(a, N, MPI_DOUBLE, right, 20, MPI_COMM_WORLD, &q[1]);
  for (flag = 0; !flag;) MPI_Test(&q[0], &flag, &status);
  say_status("MPI_Test", &status, MPI_DOUBLE);
  for (flag = 0; !flag;) MPI_Testall(2, q, &flag, statuses);
  MPI_Isend(a, N, MPI_DOUBLE, right, 21, MPI_COMM_WORLD, &q[0]);
  MPI_Request_free(&q[0]);
  MPI_Recv(b[1], N, MPI_DOUBLE, left, 21, MPI_COMM_WORLD, &status);
  say_doubles("MPI_Request_free", b[1], N);

  /* persistent ones, twice */
  MPI_Recv_init(b[0], N, MPI_DOUBLE, left, 30, MPI_COMM_WORLD, &q[0]);
  MPI_Recv_init(b[1], N, MPI_DOUBLE, left, 31, MPI_COMM_WORLD, &q[1]);
  MPI_Recv_init(b[2], N, MPI_DOUBLE, left, 32, MPI_COMM_WORLD, &q[2]);
  MPI_Send_init(a, N, MPI_DOUBLE, right, 30, MPI_COMM_WORLD, &q[3]);
  MPI_Ssend_init(a, N, MPI_DOUBLE, right, 31, MPI_COMM_WORLD, &q[4]);
  MPI_Rsend_init(a, N, MPI_DOUBLE, right, 32, MPI_COMM_WORLD, &q[5]);
  for (int turn = 0; turn < 2; turn++) {
    a[0] = turn + rank;
    MPI_Startall(3, q);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(2, q + 3);
    MPI_Start(&q[5]);
    MPI_Waitall(6, q, statuses);
    say_status("MPI_Startall", &statuses[1], MPI_DOUBLE);
    for (int i = 0; i < 3; i++) say_doubles("persistent", b[i], N);
  }
  MPI_Wait(&q[0], &status);
  say_status("MPI_Wait of an inactive request", &status, MPI_DOUBLE);
  for (int i = 0; i < 6; i++) MPI_Request_free(&q[i]);
}

static void environment(void) {
  int flag, length, version, subversion;
  char text[512]; /* as long as any library's MPI_MAX_PROCESSOR_NAME */
  MPI_Initialized(&flag);
  say("MPI_Initialized", "%d", flag);
  MPI_Finalized(&flag);
  say("MPI_Finalized", "%d", flag);
  MPI_Get_version(&version, &subversion);
  say("MPI_Get_version", "%d", version >= 3);
  MPI_Get_processor_name(text, &length);
  say("MPI_Get_processor_name", "%s %d", text, length == (int)strlen(text));
  const double start = MPI_Wtime();
  say("MPI_Wtime", "%d %d", MPI_Wtime() >= start, MPI_Wtick() > 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  double a = 0;
  const int result = MPI_Send(&a, 1, MPI_DOUBLE, size + 7, 1, MPI_COMM_WORLD);
  int kind;
  MPI_Error_class(result, &kind);
  MPI_Error_string(result, text, &length);
  say("MPI_ERRORS_RETURN", "%d %d", kind == MPI_ERR_RANK, length > 0 && length == (int)strlen(text));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Pcontrol(1, "a phase with a name");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(0);
}

int main(int argc, char** argv) {
  if (!begin(argc, argv)) return 1;
  environment();
  messages();
  large_messages();
  requests();
  collectives(MPI_COMM_WORLD, 0);
  collectives(MPI_COMM_WORLD, 1);
  return end(argv[1]);
}
