// The generator of images.
#include "app_images.hpp"

#include <cmath>
#include <numbers>

#include "network.hpp"

namespace manynode::caffe {

int make_image(std::uint64_t number, int side, std::span<double> pixels) {
  // Neighbouring numbers must not give related sequences: the first draw is the seed.
  Random random(Random(number).bits());
  const int kind = static_cast<int>(random.bits() % kClasses);
  constexpr double kTurn = 2 * std::numbers::pi;
  // The kinds differ in direction and in wavelength.
  const double direction = std::numbers::pi * (kind % 5) / 5;
  const double waves = kind < 5 ? 1.5 : 3;
  const double across = kTurn * waves / side * std::cos(direction);
  const double down = kTurn * waves / side * std::sin(direction);
  const double moved = std::numbers::pi / 4 * random.number();
  constexpr double kNoise = 0.5;
  std::size_t i = 0;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      pixels[i++] = std::sin(across * x + down * y + moved) + kNoise * random.number();
    }
  }
  return kind;
}

}  // namespace manynode::caffe
