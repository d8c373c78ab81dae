#pragma once
#include <map>
#include <memory>
#include <typeindex>

namespace evenkeel {

// What others work out of an object and keep beside it, one of each type: made when first asked for, gone
// with the object. A copy of the object starts without, so that nothing it keeps speaks of the original.
class Attached {
 public:
  Attached() = default;
  ~Attached() = default;
  Attached(const Attached&) {}
  Attached& operator=(const Attached& other) {
    if (this != &other) parts_.clear();
    return *this;
  }
  Attached(Attached&&) noexcept = default;
  Attached& operator=(Attached&&) noexcept = default;

  template <class Part>
  Part& of() {
    std::unique_ptr<Holder>& at = parts_[std::type_index(typeid(Part))];
    if (!at) at = std::make_unique<HolderOf<Part>>();
    return static_cast<HolderOf<Part>&>(*at).part;
  }

 private:
  struct Holder {
    Holder() = default;
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    virtual ~Holder() = default;
  };
  template <class Part>
  struct HolderOf final : Holder {
    Part part;
  };
  std::map<std::type_index, std::unique_ptr<Holder>> parts_;
};

}  // namespace evenkeel
