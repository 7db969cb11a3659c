! Writes the statuses that polite calls give a Fortran program to <argument 1>/lines-<rank>.
program fortran_statuses
  use mpi
  implicit none
  integer :: code, rank, ranks, other, done, requests(3), indices(3), number
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3)
  integer :: sent(5), received(8)
  character(len=1024) :: folder
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call get_command_argument(1, folder)
  open (unit=10, file=trim(folder)//'/lines-'//char(ichar('0') + rank), action='write')
  other = ieor(rank, 1)
  sent = rank
  received = -1
  status = 5
  call MPI_Recv(received, 8, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, code)
  call say('recv')
  call MPI_Sendrecv(sent, 5, MPI_INTEGER, other, 2, received, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                    MPI_COMM_WORLD, status, code)
  call say('sendrecv')
  call MPI_Sendrecv_replace(sent, 5, MPI_INTEGER, other, 3, other, 3, MPI_COMM_WORLD, status, code)
  call say('replace')
  call MPI_Sendrecv_replace(sent, 5, MPI_INTEGER, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3, MPI_COMM_WORLD, status, code)
  call say('replace nothing')
  call MPI_Sendrecv_replace(sent, 5, MPI_INTEGER, other, 4, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call say('ignored')
  call MPI_Probe(MPI_PROC_NULL, 5, MPI_COMM_WORLD, status, code)
  call say('probe')
  call MPI_Send_init(sent, 5, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(1), code)
  requests(2) = MPI_REQUEST_NULL
  call MPI_Recv_init(received, 8, MPI_INTEGER, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(3), code)
  status = 5
  call MPI_Waitany(3, requests, number, status, code)
  call say('nothing active')
  call MPI_Start(requests(3), code)
  call MPI_Start(requests(1), code)
  statuses = 5
  call MPI_Waitall(3, requests, statuses, code)
  do number = 2, 3
    status = statuses(:, number)
    call say('waitall')
    write (10, *) statuses(MPI_ERROR, 3) == MPI_SUCCESS
  end do
  call MPI_Start(requests(3), code)
  call MPI_Start(requests(1), code)
  call MPI_Waitsome(3, requests, done, indices, MPI_STATUSES_IGNORE, code)
  call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, code)
  call say('ignored')
  call MPI_Waitsome(3, requests, done, indices, statuses, code)
  write (10, *) 'waitsome', done == MPI_UNDEFINED
  call MPI_Request_free(requests(1), code)
  call MPI_Request_free(requests(3), code)
  call MPI_Barrier(MPI_COMM_WORLD, code)
  call say('barrier')
  write (10, *) ranks
  call MPI_Finalize(code)
contains
  subroutine say(what)
    character(len=*), intent(in) :: what
    integer :: count, failed
    call MPI_Get_count(status, MPI_INTEGER, count, failed)
    write (10, *) what, code, status(MPI_SOURCE), status(MPI_TAG), count, sum(sent), sum(received)
  end subroutine say
end program fortran_statuses
