#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/random.h"
#include "learning/real.h"

namespace evenkeel::learning {

enum class Activation { relu, tanh };

struct NetworkShape {
  int inputs = 0;
  std::vector<int> hidden;
  int outputs = 0;
  Activation activation = Activation::relu;  // of the hidden layers; the output is linear

  bool operator==(const NetworkShape&) const = default;
};

std::size_t parameter_count(const NetworkShape& shape);

// How weights begin; biases begin at zero.
enum class InitialWeights {
  he,      // N(0, 2 / inputs of the layer), for ReLU (He et al. 2015)
  xavier,  // uniform within sqrt(6 / (inputs + outputs)), for tanh (Glorot and Bengio 2010)
  narrow,  // N(0, 0.1^2), as the DRS paper's code has it
};
InitialWeights fitting(Activation activation);

// A multi-layer perceptron. All parameters are one flat run of numbers, layer by layer, each its weights
// (column by column, a column per input) and then its biases: an optimiser, a target network's copy and a
// model file need to know no more.
class Network {
 public:
  // What a forward pass leaves for the backward pass: the inputs, then each layer's outputs.
  struct Trace {
    std::vector<Matrix> layers;
    const Matrix& outputs() const { return layers.back(); }
  };

  explicit Network(NetworkShape shape);  // all parameters zero
  Network(NetworkShape shape, InitialWeights initial, Random& random);

  const NetworkShape& shape() const { return shape_; }
  std::span<Real> parameters() { return parameters_; }
  std::span<const Real> parameters() const { return parameters_; }

  Matrix forward(const Matrix& inputs) const;
  Vector forward(std::span<const Real> input) const;
  void forward(const Matrix& inputs, Trace& trace) const;

  // Adds d loss / d parameters to `gradient` (laid out as parameters()), given d loss / d outputs.
  void backward(const Trace& trace, const Matrix& output_gradient, std::span<Real> gradient) const;

  // Where a layer's numbers lie within parameters().
  struct Layer {
    int inputs, outputs;
    std::size_t weights, biases;  // offsets
  };
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  template <class Inputs>
  auto weighted(const Layer& layer, const Inputs& inputs) const;

  NetworkShape shape_;
  std::vector<Layer> layers_;
  std::vector<Real> parameters_;
};

// The target follows the source: target = (1 - rate) target + rate source (Polyak; rate 1 copies).
void follow(Network& target, const Network& source, Real rate);

}  // namespace evenkeel::learning
