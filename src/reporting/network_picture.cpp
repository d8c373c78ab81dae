#include "reporting/network_picture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reporting/number_format.h"

namespace evenkeel::reporting {
namespace {

constexpr double kZoneWidth = 176, kGap = 14, kHead = 20, kChip = 20, kTop = 40;
constexpr std::size_t kZonesInARow = 5;
constexpr std::size_t kMostEmptyNodes = 3;  // of a zone

struct Point {
  double x = 0, y = 0;
};

std::string number(double value) {
  std::string text = std::to_string(std::lround(value * 10));
  const bool negative = text.front() == '-';
  if (negative) text.erase(0, 1);
  if (text.size() == 1) text.insert(0, "0");
  text.insert(text.size() - 1, ".");
  return (negative ? "-" : "") + text;
}

std::string shortened(const std::string& text, std::size_t most) {
  return escape_html(text.size() <= most ? text : text.substr(0, most - 1) + "…");
}

std::string box(std::string_view style, Point at, double width, double height) {
  return "<rect class=\"" + std::string(style) + "\" x=\"" + number(at.x) + "\" y=\"" + number(at.y) +
         "\" width=\"" + number(width) + "\" height=\"" + number(height) + "\" rx=\"4\"/>";
}

std::string words(std::string_view style, Point at, const std::string& escaped) {
  return "<text class=\"" + std::string(style) + "\" x=\"" + number(at.x) + "\" y=\"" + number(at.y) + "\">" +
         escaped + "</text>";
}

struct ZoneBox {
  std::string zone, region;
  std::vector<std::size_t> nodes;
};

class Drawing {
 public:
  explicit Drawing(const NetworkPicture& picture)
      : picture_(picture), on_node_(picture.nodes.size()), places_(picture.pods.size()) {
    for (std::size_t pod = 0; pod < picture.pods.size(); ++pod)
      if (picture.pods[pod].node < on_node_.size()) on_node_[picture.pods[pod].node].push_back(pod);
    gather_zones();
    lay_out();
  }

  std::string svg() const {
    const double height = bottom_ + 30;
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" aria-label=\"" +
                      escape_html(picture_.title) + "\" width=\"" + number(width_) + "\" height=\"" +
                      number(height) + "\" viewBox=\"0 0 " + number(width_) + " " + number(height) + "\">";
    out += words("title", {8, 18}, escape_html(picture_.title));
    return out + body_ + lines() + chips_ + words("small", {8, height - 10}, escape_html(picture_.legend)) +
           "</svg>";
  }

 private:
  void gather_zones() {
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> zones;
    for (std::size_t node = 0; node < picture_.nodes.size(); ++node)
      zones[{picture_.nodes[node].region, picture_.nodes[node].zone}].push_back(node);
    for (auto& [name, nodes] : zones) zones_.push_back({name.second, name.first, std::move(nodes)});
  }

  // Zones side by side, those of a region in one frame as far as a row holds them.
  void lay_out() {
    double top = kTop;
    for (std::size_t first = 0; first < zones_.size(); first += kZonesInARow) {
      const std::size_t last = std::min(zones_.size(), first + kZonesInARow);
      double tallest = 0;
      for (std::size_t i = first; i < last; ++i)
        tallest = std::max(tallest, draw_zone(zones_[i], {left_of(i - first), top + kHead}));
      frame_regions(first, last, top, tallest);
      width_ = std::max(width_, left_of(last - first) + kGap);
      top += tallest + 2 * kHead + kGap;
    }
    bottom_ = top;
  }
  static double left_of(std::size_t column) {
    return kGap + static_cast<double>(column) * (kZoneWidth + kGap);
  }

  void frame_regions(std::size_t first, std::size_t last, double top, double tallest) {
    for (std::size_t begin = first; begin < last;) {
      std::size_t end = begin + 1;
      while (end < last && zones_[end].region == zones_[begin].region) ++end;
      const double left = left_of(begin - first) - kGap / 2;
      const double right = left_of(end - first) - kGap / 2;
      if (!zones_[begin].region.empty()) {
        body_ += box("frame", {left, top - 4}, right - left, tallest + kHead + kGap);
        body_ += words("small label", {left + 6, top + 10}, shortened(zones_[begin].region, 40));
      }
      begin = end;
    }
  }

  double draw_zone(const ZoneBox& zone, Point at) {
    double y = at.y + kHead;
    std::size_t empty = 0, unseen = 0;
    std::string inside;
    for (const std::size_t node : zone.nodes) {
      if (on_node_[node].empty() && ++empty > kMostEmptyNodes) {
        ++unseen;
        continue;
      }
      const double height = kHead + kChip * static_cast<double>(on_node_[node].size());
      inside += box("frame", {at.x + 6, y}, kZoneWidth - 12, height);
      inside += words("tiny", {at.x + 12, y + 13}, shortened(picture_.nodes[node].name, 30));
      double chip = y + kHead - 3;
      for (const std::size_t pod : on_node_[node]) {
        draw_pod(pod, {at.x + 14, chip});
        chip += kChip;
      }
      y += height + 5;
    }
    if (unseen > 0) {
      inside += words("tiny", {at.x + 12, y + 11}, "and " + std::to_string(unseen) + " without pods");
      y += kHead;
    }
    body_ += box("frame", at, kZoneWidth, y - at.y) +
             words("small", {at.x + 6, at.y + 13}, shortened(zone.zone, 26)) + inside;
    return y - at.y;
  }

  void draw_pod(std::size_t pod, Point at) {
    const std::string slot = std::to_string(picture_.pods[pod].colour % 6);
    places_[pod] = {at.x + 5, at.y + kChip / 2};
    chips_ += "<circle class=\"f" + slot + "\" cx=\"" + number(at.x + 5) + "\" cy=\"" +
              number(at.y + kChip / 2) + "\" r=\"4\"/>";
    chips_ += words("tiny", {at.x + 14, at.y + kChip / 2 + 3}, shortened(picture_.pods[pod].name, 28));
  }

  std::string lines() const {
    double dearest = 1;
    for (const NetworkPicture::Line& line : picture_.lines)
      dearest = std::max(dearest, line.cost.value_or(0));
    std::string out;
    for (const NetworkPicture::Line& line : picture_.lines) {
      if (line.from >= places_.size() || line.to >= places_.size()) continue;
      const NetworkPicture::Pod &a = picture_.pods[line.from], &b = picture_.pods[line.to];
      if (a.node == b.node) continue;
      const Point from = places_[line.from], to = places_[line.to];
      // Over the tops from zone to zone; within one it swings out to the side.
      const bool beside = std::abs(to.x - from.x) < kZoneWidth / 2;
      const Point bend =
          beside ? Point{from.x + 50 + std::abs(to.y - from.y) / 3, (from.y + to.y) / 2}
                 : Point{(from.x + to.x) / 2, std::min(from.y, to.y) - 24 - std::abs(to.y - from.y) / 6};
      const double thick = 0.6 + 2.4 * (line.cost ? *line.cost / dearest : 1);
      out += "<path class=\"s" + std::to_string(a.colour % 6) + "\" opacity=\"0.6\" stroke-width=\"" +
             number(thick) + "\"" + (line.cost ? "" : " stroke-dasharray=\"2 3\"") + " d=\"M" +
             number(from.x) + " " + number(from.y) + " Q" + number(bend.x) + " " + number(bend.y) + " " +
             number(to.x) + " " + number(to.y) + "\"><title>" + escape_html(line.label) + "</title></path>";
    }
    return out;
  }

  const NetworkPicture& picture_;
  std::vector<std::vector<std::size_t>> on_node_;  // pods
  std::vector<Point> places_;                      // of pods
  std::vector<ZoneBox> zones_;
  std::string body_, chips_;
  double width_ = 300, bottom_ = kTop;
};

}  // namespace

std::string svg_network(const NetworkPicture& picture) { return Drawing(picture).svg(); }

}  // namespace evenkeel::reporting
