#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learning/input_ranges.h"
#include "learning/network.h"
#include "learning/real.h"

namespace evenkeel::learning {

// The range of a feature that its encoding maps to 0..1.
struct FeatureRange {
  std::string feature;
  Real low = 0, high = 1;

  bool operator==(const FeatureRange&) const = default;
};

struct ModelNetwork {
  std::string name;  // "actor", "scorer", …
  NetworkShape shape;
  std::vector<Real> parameters;

  bool operator==(const ModelNetwork&) const = default;
};

// All that is needed to use a model, and to know what it is. The file:
//   line 1   evenkeel-model <version> <bytes of the header> <count of parameters> <checksum>
//   then     the header, JSON, and a newline
//   then     the parameters of all networks in the header's order, 64-bit little-endian IEEE floats
// The checksum is CRC-32 (IEEE 802.3, as in zip and png) of all that follows line 1, in eight hex digits.
// `head -2` of a file thus tells a person what it holds.
struct Model {
  static constexpr int kVersion = 1;

  std::string encoding;  // name of what turns a cluster into the network's inputs
  std::vector<FeatureRange> normalisation;
  std::string recipe;  // the recipe it was trained by, word for word
  std::vector<std::string> training_worlds;
  std::map<std::string, double> figures;  // what it reached there
  std::vector<ModelNetwork> networks;
  // Of each input of the first network, in order, what it was in training; none: nobody looked.
  std::vector<InputRange> inputs{};

  const ModelNetwork* find(std::string_view name) const;
  bool operator==(const Model&) const = default;
};

std::string serialise(const Model& model);

// Refuses what is no model, is damaged, newer, or does not fit together; the message says which and where.
Result<Model> parse_model(std::string_view bytes);
// The same, and refuses a model whose inputs would be another encoding's.
Result<Model> parse_model(std::string_view bytes, std::string_view expected_encoding);

// Whether its networks have the parameters their shapes ask for, all of them finite. Of a file parse_model
// has seen to it; a model may also come from elsewhere.
Status check_weights(const Model& model);

}  // namespace evenkeel::learning
