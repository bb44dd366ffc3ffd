// Eigen's part of RBDL's functions of constraint sets: the dense systems of Atlas on both feet, as RBDL solves them.
//
//   g++ -O3 -DNDEBUG -I EIGEN benchmarks/dense_systems.cpp -o dense_systems && ./dense_systems
//
// RBDL computes H, C, G and gamma besides, which is not in these times. Microseconds by the clock, medians of 15 rounds.

#include <Eigen/Dense>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using Eigen::MatrixXd;
using Eigen::VectorXd;

const int kVelocities = 36, kRows = 12, kFree = 6, kRounds = 15, kCalls = 500;

template <class Call>
void Measure(const char* name, Call call) {
  std::vector<double> rounds;
  for (int r = 0; r < kRounds; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    rounds.push_back(spent.count() / kCalls);
  }
  std::sort(rounds.begin(), rounds.end());
  std::printf("%-44s %6.1f us\n", name, rounds[kRounds / 2]);
}

int main() {
  const int n = kVelocities, m = kRows;
  const MatrixXd R = MatrixXd::Random(n, n), H = R * R.transpose() + MatrixXd::Identity(n, n);
  const MatrixXd G = MatrixXd::Random(m, n);
  const VectorXd c = VectorXd::Random(n), gamma = VectorXd::Random(m);
  MatrixXd A = MatrixXd::Zero(n + m, n + m);
  A << H, G.transpose(), G, MatrixXd::Zero(m, m);
  VectorXd b(n + m), x(n + m);
  b << c, gamma;
  volatile double kept = 0.0;

  Measure("direct, ColPivHouseholderQR (the default)", [&] { kept = A.colPivHouseholderQr().solve(b)[0]; });
  Measure("direct, HouseholderQR", [&] { kept = A.householderQr().solve(b)[0]; });
  Measure("direct, PartialPivLU", [&] { kept = A.partialPivLu().solve(b)[0]; });
  Measure("null space", [&] {
    const Eigen::HouseholderQR<MatrixXd> qr(G.transpose());
    const MatrixXd Q = qr.householderQ(), Y = Q.leftCols(m), Z = Q.rightCols(n - m), GY = G * Y;
    const VectorXd along = Y * GY.colPivHouseholderQr().solve(gamma);
    const MatrixXd reduced = Z.transpose() * H * Z;
    x.head(n) = along + Z * reduced.llt().solve(Z.transpose() * (c - H * along));
    kept = GY.transpose().colPivHouseholderQr().solve(Y.transpose() * (H * x.head(n) - c))[0];
  });
  Measure("inverse dynamics, full actuation", [&] {
    const MatrixXd GP = G.leftCols(kFree);
    VectorXd vdot = c;
    vdot.head(kFree) = GP.colPivHouseholderQr().solve(gamma - G.rightCols(n - kFree) * c.tail(n - kFree));
    const VectorXd force = GP.transpose().colPivHouseholderQr().solve((H * vdot + c).head(kFree));
    kept = (H * vdot + c - G.transpose() * force)[n - 1];
  });
  return kept == 0.0;
}
