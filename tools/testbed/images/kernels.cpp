// PPO-LRT's ten kinds of tasks: numeric kernels of the kinds that PolyBench has, written from their
// definitions.
//   kernels --kernel gemm --size 200 --repeat 10
// One thread, no input; --size is the length of a side (for heat-3d of a cube), --repeat how often it is
// done.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "arguments.h"
#include "pacing.h"

namespace {

struct Matrix {
  std::size_t side;
  std::vector<double> cells;
  explicit Matrix(std::size_t n, double seed = 0) : side(n), cells(n * n) {
    if (seed == 0) return;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        cells[i * n + j] = std::fmod(seed * static_cast<double>(i * (j + 3) + 1), 7.0) / 7.0;
  }
  double& at(std::size_t i, std::size_t j) { return cells[i * side + j]; }
  double at(std::size_t i, std::size_t j) const { return cells[i * side + j]; }
};
using Vector = std::vector<double>;

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

Matrix product(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.side;
  Matrix c(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      const double factor = a.at(i, k);
      for (std::size_t j = 0; j < n; ++j) c.at(i, j) += factor * b.at(k, j);
    }
  return c;
}

double gemm(std::size_t n) { return sum(product(Matrix(n, 1.1), Matrix(n, 2.3)).cells); }
double two_products(std::size_t n) {
  return sum(product(product(Matrix(n, 1.1), Matrix(n, 2.3)), Matrix(n, 0.7)).cells);
}
double three_products(std::size_t n) {
  return sum(product(product(Matrix(n, 1.1), Matrix(n, 2.3)), product(Matrix(n, 0.7), Matrix(n, 1.9))).cells);
}

// y = A' (A x)
double atax(std::size_t n) {
  const Matrix a(n, 1.3);
  Vector x(n, 0.5), y(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double product_of_row = 0;
    for (std::size_t j = 0; j < n; ++j) product_of_row += a.at(i, j) * x[j];
    for (std::size_t j = 0; j < n; ++j) y[j] += a.at(i, j) * product_of_row;
  }
  return sum(y);
}

// A = L L', of a matrix that is positive definite because its diagonal outweighs the rest.
double cholesky(std::size_t n) {
  Matrix a(n, 0.9);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) a.at(j, i) = a.at(i, j);
    a.at(i, i) = static_cast<double>(2 * n);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double rest = a.at(i, j);
      for (std::size_t k = 0; k < j; ++k) rest -= a.at(i, k) * a.at(j, k);
      a.at(i, j) = i == j ? std::sqrt(rest) : rest / a.at(j, j);
    }
  return sum(a.cells);
}

// Columns with their means taken off; for the correlation divided by their deviations too.
double moments(std::size_t n, bool scaled) {
  Matrix data(n, 1.7), out(n);
  for (std::size_t j = 0; j < n; ++j) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) mean += data.at(i, j) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) square += (data.at(i, j) - mean) * (data.at(i, j) - mean);
    const double deviation = std::sqrt(square);
    for (std::size_t i = 0; i < n; ++i) {
      data.at(i, j) -= mean;
      if (scaled && deviation > 1e-9) data.at(i, j) /= deviation;
    }
  }
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = j; k < n; ++k) {
      double total = 0;
      for (std::size_t i = 0; i < n; ++i) total += data.at(i, j) * data.at(i, k);
      out.at(j, k) = out.at(k, j) = total;
    }
  return sum(out.cells);
}
double correlation(std::size_t n) { return moments(n, true); }
double covariance(std::size_t n) { return moments(n, false); }

constexpr int kSteps = 50;  // of the kernels that go on in time

// A wave in the plane: an electric and two magnetic fields.
double fdtd(std::size_t n) {
  Matrix ex(n, 1.1), ey(n, 1.3), hz(n, 0.7);
  for (int t = 0; t < kSteps; ++t) {
    for (std::size_t j = 0; j < n; ++j) ey.at(0, j) = t;
    for (std::size_t i = 1; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) ey.at(i, j) -= 0.5 * (hz.at(i, j) - hz.at(i - 1, j));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 1; j < n; ++j) ex.at(i, j) -= 0.5 * (hz.at(i, j) - hz.at(i, j - 1));
    for (std::size_t i = 0; i + 1 < n; ++i)
      for (std::size_t j = 0; j + 1 < n; ++j)
        hz.at(i, j) -= 0.7 * (ex.at(i, j + 1) - ex.at(i, j) + ey.at(i + 1, j) - ey.at(i, j));
  }
  return sum(hz.cells);
}

double jacobi(std::size_t n) {
  Matrix now(n, 1.1), next(n, 1.1);
  for (int t = 0; t < kSteps; ++t) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j)
        next.at(i, j) =
            0.2 * (now.at(i, j) + now.at(i, j - 1) + now.at(i, j + 1) + now.at(i - 1, j) + now.at(i + 1, j));
    std::swap(now.cells, next.cells);
  }
  return sum(now.cells);
}

// Heat in a cube, whose six faces stay as they are.
double heat(std::size_t n) {
  const std::size_t plane = n * n;
  Vector now(n * plane), next;
  for (std::size_t i = 0; i < now.size(); ++i) now[i] = static_cast<double>(i % 13);
  next = now;
  for (int t = 0; t < kSteps; ++t) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j)
        for (std::size_t k = 1; k + 1 < n; ++k) {
          const std::size_t at = i * plane + j * n + k;
          next[at] = 0.25 * now[at] + 0.125 * (now[at - 1] + now[at + 1] + now[at - n] + now[at + n] +
                                               now[at - plane] + now[at + plane]);
        }
    std::swap(now, next);
  }
  return sum(now);
}

using Kernel = double (*)(std::size_t);
const std::map<std::string, Kernel> kKernels = {{"2mm", two_products},
                                                {"3mm", three_products},
                                                {"atax", atax},
                                                {"cholesky", cholesky},
                                                {"correlation", correlation},
                                                {"covariance", covariance},
                                                {"fdtd-2d", fdtd},
                                                {"gemm", gemm},
                                                {"heat-3d", heat},
                                                {"jacobi-2d", jacobi}};

}  // namespace

int main(int count, char** values) {
  const Arguments arguments(count, values,
                            {{"kernel", "gemm"}, {"size", "200"}, {"repeat", "1"}, {"memory", "1"}});
  const std::vector<char> held(static_cast<std::size_t>(arguments.number("memory") * 1e6), 1);
  const auto kernel = kKernels.find(arguments.text("kernel"));
  if (kernel == kKernels.end()) {
    std::fprintf(stderr, "kernels: no kernel '%s'; there are", arguments.text("kernel").c_str());
    for (const auto& [name, function] : kKernels) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const Pacing pacing(0);
  double total = 0;
  const long repeat = arguments.whole("repeat");
  for (long i = 0; i < repeat; ++i)
    total += kernel->second(static_cast<std::size_t>(arguments.whole("size")));
  std::printf("kernels: %s, %ld times in %.2f s, sum %.6g\n", kernel->first.c_str(), repeat, pacing.seconds(),
              total);
}
