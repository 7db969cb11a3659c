c     Fixed-form Fortran with mpif.h: two ranks exchange, then collectives. The line numbers do not matter to the test.
      program fortran_mpif
      implicit none
      include 'mpif.h'
      integer ierr, rank, size, other, request(2), newcomm, i
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
      double precision a(10), b(10), s
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      other = 1 - rank
      do i = 1, 10
        a(i) = rank
      end do
      if (rank .eq. 0) then
        call MPI_SEND(a, 10, MPI_DOUBLE_PRECISION, other, 3,
     &    MPI_COMM_WORLD, ierr)
      else
        call MPI_RECV(b, 10, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 3,
     &    MPI_COMM_WORLD, status, ierr)
      end if
      call MPI_IRECV(b, 10, MPI_DOUBLE_PRECISION, other, 4,
     &  MPI_COMM_WORLD, request(1), ierr)
      call MPI_ISEND(a, 10, MPI_DOUBLE_PRECISION, other, 4,
     &  MPI_COMM_WORLD, request(2), ierr)
      call MPI_WAITALL(2, request, MPI_STATUSES_IGNORE, ierr)
      call MPI_SENDRECV(a, 2, MPI_DOUBLE_PRECISION, other, 5, b, 10,
     &  MPI_DOUBLE_PRECISION, other, 5, MPI_COMM_WORLD, status, ierr)
      call MPI_PCONTROL(1)
      call MPI_COMM_SPLIT(MPI_COMM_WORLD, 0, -rank, newcomm, ierr)
      call MPI_ALLREDUCE(MPI_IN_PLACE, a, 10, MPI_DOUBLE_PRECISION,
     &  MPI_SUM, newcomm, ierr)
      call MPI_BCAST(a, 10, MPI_DOUBLE_PRECISION, 0, newcomm, ierr)
      call MPI_COMM_FREE(newcomm, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      if (abs(a(1) - 1.0d0) .gt. 1d-12) stop 1
      call MPI_FINALIZE(ierr)
      end
