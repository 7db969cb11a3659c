! One-sided calls through the module mpi, on the window of the next rank, with data that are checked.
program fortran_one_sided
  use mpi
  implicit none
  integer, parameter :: n = 500
  integer :: ierr, rank, size, next, before, win, request, world, other
  integer(kind=MPI_ADDRESS_KIND) :: there, bytes
  double precision :: mine(n), window(n), got(n)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  mine = rank
  window = 0
  there = 0
  bytes = 8 * n
  call MPI_Win_create(window, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  call MPI_Put(mine, n, MPI_DOUBLE_PRECISION, next, there, n, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_Win_fence(0, win, ierr)
  if (window(n) /= before) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win, ierr)
  call MPI_Accumulate(mine, 10, MPI_DOUBLE_PRECISION, next, there, 10, MPI_DOUBLE_PRECISION, MPI_SUM, win, ierr)
  call MPI_Win_unlock(next, win, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Win_lock_all(0, win, ierr)
  call MPI_Rget(got, n, MPI_DOUBLE_PRECISION, next, there, n, MPI_DOUBLE_PRECISION, win, request, ierr)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  call MPI_Win_unlock_all(win, ierr)
  if (got(1) /= 2 * rank .or. got(n) /= rank) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
  call MPI_Group_incl(world, 1, [ieor(rank, 1)], other, ierr)
  call MPI_Win_post(other, 0, win, ierr)
  call MPI_Win_start(other, 0, win, ierr)
  call MPI_Put(mine, n, MPI_DOUBLE_PRECISION, ieor(rank, 1), there, n, MPI_DOUBLE_PRECISION, win, ierr)
  call MPI_Win_complete(win, ierr)
  call MPI_Win_wait(win, ierr)
  if (window(1) /= ieor(rank, 1)) call MPI_Abort(MPI_COMM_WORLD, 3, ierr)
  call MPI_Group_free(other, ierr)
  call MPI_Group_free(world, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Finalize(ierr)
end program fortran_one_sided
