! The same calls as fortran_mpif.f through the module mpi_f08.
program fortran_use_mpi_f08
  use mpi_f08
  implicit none
  integer :: ierr, rank, size, other, i
  type(MPI_Request) :: request(2)
  type(MPI_Comm) :: newcomm
  type(MPI_Status) :: status
  double precision :: a(10), b(10)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  other = 1 - rank
  do i = 1, 10
    a(i) = rank
  end do
  if (rank == 0) then
    call MPI_Send(a, 10, MPI_DOUBLE_PRECISION, other, 3, MPI_COMM_WORLD, ierr)
  else
    call MPI_Recv(b, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, status, ierr)
  end if
  call MPI_Irecv(b, 10, MPI_DOUBLE_PRECISION, other, 4, MPI_COMM_WORLD, request(1), ierr)
  call MPI_Isend(a, 10, MPI_DOUBLE_PRECISION, other, 4, MPI_COMM_WORLD, request(2), ierr)
  call MPI_Waitall(2, request, MPI_STATUSES_IGNORE, ierr)
  call MPI_Sendrecv(a, 2, MPI_DOUBLE_PRECISION, other, 5, b, 10, MPI_DOUBLE_PRECISION, other, 5, &
    MPI_COMM_WORLD, status, ierr)
  call MPI_Pcontrol(1)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, newcomm, ierr)
  call MPI_Allreduce(MPI_IN_PLACE, a, 10, MPI_DOUBLE_PRECISION, MPI_SUM, newcomm, ierr)
  call MPI_Bcast(a, 10, MPI_DOUBLE_PRECISION, 0, newcomm, ierr)
  call MPI_Comm_free(newcomm, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  if (abs(a(1) - 1.0d0) > 1d-12) stop 1
  call MPI_Finalize(ierr)
end program
