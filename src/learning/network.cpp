#include "learning/network.h"

#include <cmath>
#include <utility>

#include "base/check.h"

namespace evenkeel::learning {
namespace {

using ConstMatrixMap = Eigen::Map<const Matrix>;
using ConstVectorMap = Eigen::Map<const Vector>;
using MatrixMap = Eigen::Map<Matrix>;
using VectorMap = Eigen::Map<Vector>;

std::vector<Network::Layer> layers_of(const NetworkShape& shape) {
  std::vector<Network::Layer> layers;
  std::size_t offset = 0;
  int inputs = shape.inputs;
  const auto append = [&](int outputs) {
    EVENKEEL_CHECK(inputs > 0 && outputs > 0);
    const std::size_t biases = offset + static_cast<std::size_t>(inputs) * static_cast<std::size_t>(outputs);
    layers.push_back({inputs, outputs, offset, biases});
    offset = biases + static_cast<std::size_t>(outputs);
    inputs = outputs;
  };
  for (const int width : shape.hidden) append(width);
  append(shape.outputs);
  return layers;
}

template <class Values>
void activate(Activation activation, Values& values) {
  if (activation == Activation::relu)
    values = values.cwiseMax(Real{0});
  else
    values = values.array().tanh().matrix();
}

// Times the activation's slope, which both kinds can tell from their outputs.
void through_activation(Activation activation, const Matrix& outputs, Matrix& gradient) {
  if (activation == Activation::relu)
    gradient = (outputs.array() > 0).select(gradient, Real{0});
  else
    gradient.array() *= 1 - outputs.array().square();
}

}  // namespace

std::size_t parameter_count(const NetworkShape& shape) {
  const auto layers = layers_of(shape);
  return layers.back().biases + static_cast<std::size_t>(layers.back().outputs);
}

InitialWeights fitting(Activation activation) {
  return activation == Activation::relu ? InitialWeights::he : InitialWeights::xavier;
}

Network::Network(NetworkShape shape)
    : shape_(std::move(shape)), layers_(layers_of(shape_)), parameters_(parameter_count(shape_)) {}

Network::Network(NetworkShape shape, InitialWeights initial, Random& random) : Network(std::move(shape)) {
  for (const Layer& layer : layers_) {
    const double he = std::sqrt(2.0 / layer.inputs), xavier = std::sqrt(6.0 / (layer.inputs + layer.outputs));
    for (std::size_t i = layer.weights; i < layer.biases; ++i) {
      switch (initial) {
        case InitialWeights::he:
          parameters_[i] = random.normal(0, he);
          break;
        case InitialWeights::xavier:
          parameters_[i] = random.between(-xavier, xavier);
          break;
        case InitialWeights::narrow:
          parameters_[i] = random.normal(0, 0.1);
          break;
      }
    }
  }
}

template <class Inputs>
auto Network::weighted(const Layer& layer, const Inputs& inputs) const {
  EVENKEEL_CHECK(inputs.rows() == layer.inputs);
  const ConstMatrixMap weights(parameters_.data() + layer.weights, layer.outputs, layer.inputs);
  const ConstVectorMap biases(parameters_.data() + layer.biases, layer.outputs);
  Eigen::Matrix<Real, Eigen::Dynamic, Inputs::ColsAtCompileTime> sums(layer.outputs, inputs.cols());
  sums.noalias() = weights * inputs;
  sums.colwise() += biases;
  return sums;
}

Matrix Network::forward(const Matrix& inputs) const {
  Matrix values = weighted(layers_.front(), inputs);
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    activate(shape_.activation, values);
    values = weighted(layers_[i], values);
  }
  return values;
}

Vector Network::forward(std::span<const Real> input) const {
  Vector values = weighted(layers_.front(), as_vector(input));
  for (std::size_t i = 1; i < layers_.size(); ++i) {
    activate(shape_.activation, values);
    values = weighted(layers_[i], values);
  }
  return values;
}

void Network::forward(const Matrix& inputs, Trace& trace) const {
  trace.layers.resize(layers_.size() + 1);
  trace.layers[0] = inputs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    trace.layers[i + 1] = weighted(layers_[i], trace.layers[i]);
    if (i + 1 < layers_.size()) activate(shape_.activation, trace.layers[i + 1]);
  }
}

void Network::backward(const Trace& trace, const Matrix& output_gradient, std::span<Real> gradient) const {
  EVENKEEL_CHECK(gradient.size() == parameters_.size() && trace.layers.size() == layers_.size() + 1);
  EVENKEEL_CHECK(output_gradient.rows() == shape_.outputs &&
                 output_gradient.cols() == trace.layers[0].cols());
  Matrix above = output_gradient;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const ConstMatrixMap weights(parameters_.data() + layer.weights, layer.outputs, layer.inputs);
    MatrixMap(gradient.data() + layer.weights, layer.outputs, layer.inputs).noalias() +=
        above * trace.layers[i].transpose();
    VectorMap(gradient.data() + layer.biases, layer.outputs) += above.rowwise().sum();
    if (i == 0) return;
    Matrix below(layer.inputs, above.cols());
    below.noalias() = weights.transpose() * above;
    through_activation(shape_.activation, trace.layers[i], below);
    above = std::move(below);
  }
}

void follow(Network& target, const Network& source, Real rate) {
  EVENKEEL_CHECK(target.shape() == source.shape());
  VectorMap to(target.parameters().data(), static_cast<Eigen::Index>(target.parameters().size()));
  to = rate == 1 ? Vector(as_vector(source.parameters()))
                 : Vector((1 - rate) * to + rate * as_vector(source.parameters()));
}

}  // namespace evenkeel::learning
