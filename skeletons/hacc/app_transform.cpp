// Transforms along z, y and x and back, with exchanges in rows and columns of ranks between them.
#include "app_transform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace manynode::hacc {
namespace {

constexpr int kDoubles = 2;  // in a complex number

// Cells of a rank, the same number in all three kinds of pencils.
std::int64_t cells(const Shape& shape, int rank) {
  const std::int64_t in_row = shape.length(shape.row_of(rank), shape.rows);
  const std::int64_t in_column = shape.length(shape.column_of(rank), shape.columns);
  return in_row * in_column * shape.side;
}

// Shifting a periodic field by s cells multiplies its Fourier coefficient k by exp(-2 pi i k s / n).
std::vector<Complex> phases(std::int64_t first, std::int64_t length, std::int64_t shift, std::int64_t side) {
  std::vector<Complex> out;
  for (std::int64_t k = first; k < first + length; ++k) {
    out.push_back(
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * shift % side) / static_cast<double>(side)));
  }
  return out;
}

}  // namespace

Transform::Transform(const Shape& shape, int rank)
    : shape_(shape),
      x_(part(shape.row_of(rank), shape.rows)),
      y_in_row_(part(shape.column_of(rank), shape.columns)),
      z_(part(shape.column_of(rank), shape.columns)),
      y_(part(shape.row_of(rank), shape.rows)),
      pencils_(cells(shape, rank)),
      sent_(cells(shape, rank)),
      received_(cells(shape, rank)),
      forward_z_(shape.side, x_.length * y_in_row_.length, FFTW_FORWARD, pencils_),
      back_z_(shape.side, x_.length * y_in_row_.length, FFTW_BACKWARD, pencils_),
      forward_y_(shape.side, x_.length * z_.length, FFTW_FORWARD, pencils_),
      back_y_(shape.side, x_.length * z_.length, FFTW_BACKWARD, pencils_),
      forward_x_(shape.side, y_.length * z_.length, FFTW_FORWARD, pencils_),
      back_x_(shape.side, y_.length * z_.length, FFTW_BACKWARD, pencils_),
      phase_x_(phases(0, shape.side, kShift.x, shape.side)),
      phase_y_(phases(y_.first, y_.length, kShift.y, shape.side)),
      phase_z_(phases(z_.first, z_.length, kShift.z, shape.side)) {
  const int row = shape.row_of(rank);
  const int column = shape.column_of(rank);
  std::vector<int> ranks;
  std::vector<std::int64_t> sent, received;
  for (int other = 0; other < shape.columns; ++other) {
    ranks.push_back(shape.rank_at(row, other));
    sent.push_back(shape.in_row(row, column, other));
    received.push_back(shape.in_row(row, other, column));
  }
  row_ = group(std::move(ranks), column, std::move(sent), std::move(received));
  ranks.clear();
  sent.clear();
  received.clear();
  for (int other = 0; other < shape.rows; ++other) {
    ranks.push_back(shape.rank_at(other, column));
    sent.push_back(shape.in_column(column, row, other));
    received.push_back(shape.in_column(column, other, row));
  }
  column_ = group(std::move(ranks), row, std::move(sent), std::move(received));
}

Transform::Group Transform::group(std::vector<int> ranks, int own, std::vector<std::int64_t> sent,
                                  std::vector<std::int64_t> received) {
  Group out{std::move(ranks), own, std::move(sent), std::move(received), {}, {}};
  std::int64_t sent_before = 0;
  std::int64_t received_before = 0;
  for (std::size_t i = 0; i < out.ranks.size(); ++i) {
    out.sent_first.push_back(std::exchange(sent_before, sent_before + out.sent[i]));
    out.received_first.push_back(std::exchange(received_before, received_before + out.received[i]));
  }
  return out;
}

// The own block is already in place. A rank alone also calls waitall, because the call ends the phase before it.
void Transform::exchange(const Group& group, int tag, bool back) {
  const auto& sent = back ? group.received : group.sent;
  const auto& sent_first = back ? group.received_first : group.sent_first;
  const auto& received = back ? group.sent : group.received;
  const auto& received_first = back ? group.sent_first : group.received_first;
  const int members = static_cast<int>(group.ranks.size());
  requests_.clear();
  for (int step = 1; step < members; ++step) {
    const auto other = static_cast<std::size_t>((group.own + step) % members);
    MPI_Irecv(received_.data() + received_first[other], static_cast<int>(kDoubles * received[other]), MPI_DOUBLE,
              group.ranks[other], tag, MPI_COMM_WORLD, &requests_.emplace_back());
  }
  for (int step = 1; step < members; ++step) {
    const auto other = static_cast<std::size_t>((group.own + step) % members);
    MPI_Isend(sent_.data() + sent_first[other], static_cast<int>(kDoubles * sent[other]), MPI_DOUBLE,
              group.ranks[other], tag, MPI_COMM_WORLD, &requests_.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

// Cuts z-pencils into a block for each rank of the row, with that rank's z: [x][y][z]. A rank's own block goes straight
// to `received_`.
void Transform::cut_z() {
  const std::int64_t pencils = x_.length * y_in_row_.length;
  for (int other = 0; other < shape_.columns; ++other) {
    const bool own = other == row_.own;
    const auto i = static_cast<std::size_t>(other);
    Complex* to = own ? received_.data() + row_.received_first[i] : sent_.data() + row_.sent_first[i];
    const Range z = part(other, shape_.columns);
    const Complex* from = pencils_.data() + z.first;
    for (std::int64_t pencil = 0; pencil < pencils; ++pencil, from += shape_.side) {
      to = std::copy_n(from, z.length, to);
    }
  }
}

// Assembles y-pencils [x][z][y] from the blocks [x][y][z] of each rank of the row.
void Transform::collect_y() {
  for (int other = 0; other < shape_.columns; ++other) {
    const Complex* from = received_.data() + row_.received_first[static_cast<std::size_t>(other)];
    const Range y = part(other, shape_.columns);
    for (std::int64_t x = 0; x < x_.length; ++x) {
      for (std::int64_t i = 0; i < y.length; ++i) {
        Complex* to = pencils_.data() + x * z_.length * shape_.side + y.first + i;
        for (std::int64_t z = 0; z < z_.length; ++z, to += shape_.side) {
          *to = *from++;
        }
      }
    }
  }
}

// Cuts y-pencils into a block for each rank of the column, with that rank's y: [x][z][y].
void Transform::cut_y() {
  const std::int64_t pencils = x_.length * z_.length;
  for (int other = 0; other < shape_.rows; ++other) {
    const bool own = other == column_.own;
    const auto i = static_cast<std::size_t>(other);
    Complex* to = own ? received_.data() + column_.received_first[i] : sent_.data() + column_.sent_first[i];
    const Range y = part(other, shape_.rows);
    const Complex* from = pencils_.data() + y.first;
    for (std::int64_t pencil = 0; pencil < pencils; ++pencil, from += shape_.side) {
      to = std::copy_n(from, y.length, to);
    }
  }
}

// Assembles x-pencils [z][y][x] from the blocks [x][z][y] of each rank of the column.
void Transform::collect_x() {
  for (int other = 0; other < shape_.rows; ++other) {
    const Complex* from = received_.data() + column_.received_first[static_cast<std::size_t>(other)];
    const Range x = part(other, shape_.rows);
    for (std::int64_t i = 0; i < x.length; ++i) {
      Complex* to = pencils_.data() + x.first + i;
      for (std::int64_t pencil = 0; pencil < z_.length * y_.length; ++pencil, to += shape_.side) {
        *to = *from++;
      }
    }
  }
}

// Multiplies each wave by a complex number and the scale, as a cosmology code does with Green's function.
void Transform::apply_kernel() {
  const double side = static_cast<double>(shape_.side);
  const double scale = 1 / (side * side * side);
  Complex* value = pencils_.data();
  for (const Complex& along_z : phase_z_) {
    for (const Complex& along_y : phase_y_) {
      const Complex factor = scale * along_z * along_y;
      for (const Complex& along_x : phase_x_) {
        *value++ *= factor * along_x;
      }
    }
  }
}

// The reverse of collect_x: makes the blocks that return to their senders.
void Transform::cut_x() {
  for (int other = 0; other < shape_.rows; ++other) {
    const bool own = other == column_.own;
    const auto i = static_cast<std::size_t>(other);
    Complex* to = own ? received_.data() + column_.sent_first[i] : sent_.data() + column_.received_first[i];
    const Range x = part(other, shape_.rows);
    for (std::int64_t j = 0; j < x.length; ++j) {
      const Complex* from = pencils_.data() + x.first + j;
      for (std::int64_t pencil = 0; pencil < z_.length * y_.length; ++pencil, from += shape_.side) {
        *to++ = *from;
      }
    }
  }
}

// The reverse of cut_y.
void Transform::collect_y_back() {
  const std::int64_t pencils = x_.length * z_.length;
  for (int other = 0; other < shape_.rows; ++other) {
    const Complex* from = received_.data() + column_.sent_first[static_cast<std::size_t>(other)];
    const Range y = part(other, shape_.rows);
    Complex* to = pencils_.data() + y.first;
    for (std::int64_t pencil = 0; pencil < pencils; ++pencil, from += y.length, to += shape_.side) {
      std::copy_n(from, y.length, to);
    }
  }
}

// The reverse of collect_y.
void Transform::cut_y_back() {
  for (int other = 0; other < shape_.columns; ++other) {
    const bool own = other == row_.own;
    const auto i = static_cast<std::size_t>(other);
    Complex* to = own ? received_.data() + row_.sent_first[i] : sent_.data() + row_.received_first[i];
    const Range y = part(other, shape_.columns);
    for (std::int64_t x = 0; x < x_.length; ++x) {
      for (std::int64_t j = 0; j < y.length; ++j) {
        const Complex* from = pencils_.data() + x * z_.length * shape_.side + y.first + j;
        for (std::int64_t z = 0; z < z_.length; ++z, from += shape_.side) {
          *to++ = *from;
        }
      }
    }
  }
}

// The reverse of cut_z.
void Transform::collect_z() {
  const std::int64_t pencils = x_.length * y_in_row_.length;
  for (int other = 0; other < shape_.columns; ++other) {
    const Complex* from = received_.data() + row_.sent_first[static_cast<std::size_t>(other)];
    const Range z = part(other, shape_.columns);
    Complex* to = pencils_.data() + z.first;
    for (std::int64_t pencil = 0; pencil < pencils; ++pencil, from += z.length, to += shape_.side) {
      std::copy_n(from, z.length, to);
    }
  }
}

void Transform::solve() {
  {
    const PhaseLabel label(Work::AlongZ);
    finish();
    forward_z_.execute();
    cut_z();
  }
  exchange(row_, kRowTag, false);
  {
    const PhaseLabel label(Work::AlongY);
    collect_y();
    forward_y_.execute();
    cut_y();
  }
  exchange(column_, kColumnTag, false);
  {
    const PhaseLabel label(Work::AlongX);
    collect_x();
    forward_x_.execute();
    apply_kernel();
    back_x_.execute();
    cut_x();
  }
  exchange(column_, kColumnTag, true);
  {
    const PhaseLabel label(Work::BackAlongY);
    collect_y_back();
    back_y_.execute();
    cut_y_back();
  }
  exchange(row_, kRowTag, true);
  cut_ = true;
}

void Transform::finish() {
  if (cut_) {
    collect_z();
    back_z_.execute();
  }
  cut_ = false;
}

}  // namespace manynode::hacc
