// Names are brought to one spelling before they are compared.
//
// Tools differ in the case of digits, in the zeros of a PCI domain and in whether they print
// "GPU-". An index is compared as text: "00" or "+0" name no device, so that a slip is not taken
// for card 0.
#include "cuda/device/device_name.h"

#include <cctype>

#include "base/check.h"

namespace cuzk::cuda::device {
namespace {

// The first group of a UUID, which tools print alone where space is short; fewer digits could be an
// index or a typing error.
constexpr std::size_t kUuidDigitsMin = 8;

// Letters as they are in all spellings of hexadecimal digits.
std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Without "gpu-".
std::string plain_uuid(std::string_view text) {
  std::string out = lower(text);
  if (out.rfind("gpu-", 0) == 0) out.erase(0, 4);
  return out;
}

// "00000000:17:00.0", "0000:17:00.0", "17:00.0" and "17:00" are all "17:00"; "0001:17:00.0" is
// "1:17:00".
std::string plain_pci(std::string_view text) {
  std::string out = lower(text);
  if (const auto dot = out.find('.'); dot != std::string::npos) out.erase(dot);
  const auto first = out.find(':');
  if (first == std::string::npos || out.find(':', first + 1) == std::string::npos) return out;
  out.erase(0, out.find_first_not_of('0'));
  CUZK_ASSERT(!out.empty());  // two colons are no zeros
  if (out.front() == ':') out.erase(0, 1);
  return out;
}

}  // namespace

bool is_name_of(const DeviceInfo& info, std::string_view name) {
  if (name.empty()) return false;
  if (name == std::to_string(info.index)) return true;
  const std::string uuid = plain_uuid(name);
  if (uuid.size() >= kUuidDigitsMin && plain_uuid(info.uuid).rfind(uuid, 0) == 0) return true;
  return name.find(':') != std::string_view::npos && plain_pci(name) == plain_pci(info.pci_address);
}

base::Result<DeviceInfo> find_by_name(const std::vector<DeviceInfo>& all, const std::string& name) {
  std::string known;
  const DeviceInfo* found = nullptr;
  // All are looked at, also after a match: a second one makes the name ambiguous.
  for (const DeviceInfo& info : all) {
    if (is_name_of(info, name)) {
      if (found != nullptr) {
        return base::Error{base::ErrorKind::kInvalidArgument,
                           "'" + name + "' is the beginning of the UUIDs of several devices"};
      }
      found = &info;
    }
    known += (known.empty() ? "" : "; ") + std::to_string(info.index) + " = " + info.uuid + " = " +
             info.pci_address + " (" + info.name + ")";
  }
  if (found != nullptr) return *found;
  return base::Error{
      base::ErrorKind::kNotFound,
      "no device is named '" + name + "'; visible are: " + (known.empty() ? "none" : known)};
}

}  // namespace cuzk::cuda::device
