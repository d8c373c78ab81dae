#include "simulator/service_queue.h"

#include <gtest/gtest.h>

#include <cmath>

namespace evenkeel::simulator {
namespace {

constexpr ServiceTimes kExponential{};

TEST(ErlangC, IsWhatTablesSay) {
  EXPECT_NEAR(erlang_c(1, 0.7), 0.7, 1e-12);  // one server: it waits when it is busy
  EXPECT_NEAR(erlang_c(2, 0.75), 0.6428571, 1e-6);
  EXPECT_NEAR(erlang_c(5, 0.8), 0.5541, 1e-4);
  EXPECT_NEAR(erlang_c(3, 0), 0, 1e-12);
}

TEST(QueueTable, GivesTheResponseOfOneServer) {
  const QueueTable table(1, kExponential);
  for (const double load : {0.1, 0.5, 0.76, 0.9}) {
    EXPECT_NEAR(table.response(load), 1 / (1 - load), 1e-9);
    EXPECT_NEAR(table.in_system(load), load / (1 - load), 0.005);
    // Of M/M/1 the response is exponential.
    for (const double time : {0.5, 2.0, 8.0})
      EXPECT_NEAR(table.tail(load, time), std::exp(-(1 - load) * time), 0.002) << load << ' ' << time;
  }
}

TEST(QueueTable, GivesTheMeanOfSeveralServers) {
  // M/M/3 at load 0.8: C = 0.6472, response 1 + C / (3 x 0.2).
  const QueueTable table(3, kExponential);
  EXPECT_NEAR(table.response(0.8), 1 + 0.6472 / 0.6, 1e-3);
  // The tail integrates to the mean.
  double mean = 0;
  for (double time = 0.01; time < 60; time += 0.02) mean += 0.02 * table.tail(0.8, time);
  EXPECT_NEAR(mean, table.response(0.8), 0.02);
}

TEST(QueueTable, WaitsHalfAsLongWhenServiceTimesAreFixed) {
  const QueueTable fixed(1, {ServiceTimes::Kind::fixed, 0}), exponential(1, kExponential);
  // Pollaczek and Khinchine: the mean wait of M/D/1 is half of M/M/1's.
  EXPECT_NEAR(fixed.response(0.8) - 1, (exponential.response(0.8) - 1) / 2, 1e-9);
  EXPECT_GT(fixed.tail(0.8, 0.9), 0.999);  // nobody is done before the service is
}

TEST(QueueTable, FindsTheLoadThatHoldsAQueue) {
  const QueueTable table(4, kExponential);
  for (const double load : {0.0, 0.3, 0.72, 0.94})
    EXPECT_NEAR(table.load_of(table.in_system(load)), load, 1e-6);
  EXPECT_DOUBLE_EQ(table.load_of(1e6), QueueTable::kMostLoad);
}

TEST(FluidQueue, SettlesInEquilibrium) {
  const QueueTable table(1, kExponential);
  FluidQueue queue;
  FluidQueue::Step step;
  for (int second = 0; second < 300; ++second) step = queue.advance(table, 40, 50, 1, 0);
  EXPECT_NEAR(step.load, 0.8, 1e-3);
  EXPECT_NEAR(step.served, 40, 1e-3);
  EXPECT_NEAR(queue.held(), 4, 0.02);
  EXPECT_DOUBLE_EQ(step.delay_s, 0);
}

TEST(FluidQueue, LosesNoRequest) {
  const QueueTable table(2, kExponential);
  FluidQueue queue;
  double arrived = 0, served = 0, refused = 0;
  for (int second = 0; second < 500; ++second) {
    const double rate = 50 + 45 * std::sin(second / 20.0);
    const FluidQueue::Step step = queue.advance(table, rate, 60, 1, 400);
    arrived += rate;
    served += step.served;
    refused += step.refused;
  }
  EXPECT_GT(refused, 0);
  EXPECT_NEAR(arrived, served + refused + queue.held(), 1e-6);
  served += queue.drain(60, 1000);
  EXPECT_NEAR(queue.held(), 0, 1e-9);
  EXPECT_NEAR(arrived, served + refused, 1e-6);
}

TEST(FluidQueue, BuildsABacklogAboveItsSpeedAndWorksItOff) {
  const QueueTable table(1, kExponential);
  FluidQueue queue;
  FluidQueue::Step step;
  for (int second = 0; second < 60; ++second) step = queue.advance(table, 75, 50, 1, 0);
  EXPECT_NEAR(queue.held(), 60 * 25, 30);
  EXPECT_NEAR(step.delay_s, 30, 1);
  EXPECT_NEAR(step.served, 50, 0.5);
  for (int second = 0; second < 60; ++second) step = queue.advance(table, 20, 50, 1, 0);
  EXPECT_LT(step.delay_s, 0.1);
}

}  // namespace
}  // namespace evenkeel::simulator
