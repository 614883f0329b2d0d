// Reading commit-phase-1 output: one pass of simdjson's on-demand parser into our types.
//
// The parser looks only at what it is asked for, so unknown members are walked to the end: nothing
// in the file goes unparsed. Counts are known before elements are read, which bounds allocation.
//
// Files of large sectors have tens of megabytes, nearly all of them arrays of small integers, so
// one pass without a tree of values is what keeps reading cheap: memory is a copy of the text, the
// parser's index of it, and the proofs. Members are tables of name and reader, one table a type;
// what a table does not name is passed over.
#include <array>
#include <cstring>
#include <functional>

#include <simdjson.h>

#include "base/check.h"
#include "filecoin/base64.h"
#include "filecoin/porep/c1_json.h"

namespace cuzk::filecoin {
namespace {

namespace sj = simdjson::ondemand;
using base::Status;

// Deepest nesting of a member that is passed over.
constexpr unsigned kUnknownDepthMax = 32;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Reads one file. `path_` is where the parser stands; after an error it stays there, for the
// sentence. Outer files hold an inner one in base64, which a second reader takes. Used for one file
// by one thread, and dropped after an error.
class Reader {
 public:
  explicit Reader(std::string source) : source_(std::move(source)) {}

  // Opens the document over a padded copy of the bytes, which lives as long as the reader.
  Status open(base::ByteSpan json);
  base::Result<C1File> read();

 private:
  // A member that has to be there, and what reads its value. The value is gone when that returns.
  using Member = std::pair<std::string_view, std::function<Status(sj::value)>>;
  using NamedRead = std::function<Status(std::string_view, sj::value)>;

  // Source, path of the member, then the reason.
  base::Error malformed(const std::string& sentence) const {
    return {base::ErrorKind::kMalformed,
            source_ + ": " + (path_.empty() ? "" : path_ + ": ") + sentence};
  }
  // What simdjson refused, with the byte near which it stood.
  base::Error parse_error(simdjson::error_code code, std::string_view expected) {
    std::string sentence =
        "expected " + std::string(expected) + ": " + std::string(simdjson::error_message(code));
    const char* place = nullptr;
    if (document_.current_location().get(place) == simdjson::SUCCESS && place != nullptr) {
      const auto offset = place - json_.data();
      if (offset >= 0 && static_cast<std::size_t>(offset) <= json_.size()) {
        const auto in_file = static_cast<std::size_t>(offset) + passed_over_bytes_;
        sentence += " (near byte " + std::to_string(in_file) + ")";
      }
    }
    return malformed(sentence);
  }
  // Runs `read` with `step` appended to the path.
  template <class Read>
  Status at(const std::string& step, const Read& read) {
    const std::size_t length = path_.size();
    path_ += step;
    Status status = read();
    if (status.ok()) path_.resize(length);
    return status;
  }

  // Calls read(name, value) for every member.
  template <class Object, class Read>
  Status each_member(Object& object, const Read& read);
  // All of `members`, each once, in any order; others are passed over.
  template <class Object>
  Status members_of(Object& object, std::span<const Member> members);
  Status object(sj::value value, std::span<const Member> members);
  Status document(std::span<const Member> members);
  // An object with one member, whose name is the variant of an enumeration.
  Status sole_member(sj::value value, const NamedRead& read);
  Status array(sj::value value, std::size_t count_min, std::size_t count_max,
               const std::function<Status(sj::value)>& read);
  // Walks an unknown value to its end, so that a broken file is refused wherever it breaks.
  Status pass_over(sj::value value, unsigned depth);

  // Values of one type; whatever else stands there is an error.
  Status null(sj::value value);
  template <class T>
  Status scalar(simdjson::simdjson_result<T> result, std::string_view expected) {
    return result.error() ? Status(parse_error(result.error(), expected)) : base::ok_status();
  }

  Status integer(sj::value value, std::uint64_t max, std::uint64_t& out);
  Status text(sj::value value, std::string& out);
  Status bytes32(sj::value value, Node& out);
  Status node(sj::value value, Node& out);
  Status nodes(sj::value value, std::size_t count, std::vector<Node>& out);

  // The parts of a proof, from small to large; counts are those of `shape_`.
  Status path(sj::value value, std::span<const std::size_t> arities, std::vector<PathElement>& out);
  Status merkle_proof(sj::value value, const TreeShape& shape, MerkleProof& out);
  Status column(sj::value value, ColumnProof& out);
  Status column_proof(sj::value value, ColumnProof& out);
  Status column_proofs(sj::value value, std::size_t count, std::vector<ColumnProof>& out);
  Status labeling_proof(sj::value value, LabelingProof& out);
  Status porep_proof(sj::value value, PorepProof& out);
  Status vanilla_proofs(sj::value value, PorepC1& out);
  Status registered(const std::string& name, PorepC1& out);

  // The two forms of a file.
  base::Result<bool> has_outer_form();
  Status read_inner(PorepC1& out);
  base::Result<C1File> read_outer();

  std::string source_, path_;
  std::size_t passed_over_bytes_ = 0;  // before json_ in the file
  simdjson::padded_string json_;
  sj::parser parser_;
  sj::document document_;
  const SectorShape* shape_ = nullptr;  // null until the name under vanilla_proofs is read
};

Status Reader::open(base::ByteSpan json) {
  if (json.size() > kC1ByteCountMax) {
    return malformed("a file of " + std::to_string(json.size()) +
                     " bytes is too long for commit-phase-1 output, whose limit is " +
                     std::to_string(kC1ByteCountMax));
  }
  // Editors on Windows write it; every reader of JSON here passes over one.
  std::string_view text(reinterpret_cast<const char*>(json.data()), json.size());
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
    passed_over_bytes_ = kByteOrderMark.size();
  }
  json_ = simdjson::padded_string(text);
  if (const auto code = parser_.iterate(json_).get(document_)) {
    return malformed("not JSON: " + std::string(simdjson::error_message(code)));
  }
  return base::ok_status();
}

Status Reader::pass_over(sj::value value, unsigned depth) {
  if (depth > kUnknownDepthMax) return malformed("nested too deeply");
  sj::json_type type;
  if (const auto code = value.type().get(type)) return parse_error(code, "a value");
  switch (type) {
    case sj::json_type::object: {
      sj::object inner;
      if (const auto code = value.get_object().get(inner)) return parse_error(code, "an object");
      return each_member(
          inner, [&](std::string_view, sj::value member) { return pass_over(member, depth + 1); });
    }
    case sj::json_type::array: {
      sj::array elements;
      if (const auto code = value.get_array().get(elements)) return parse_error(code, "an array");
      for (auto element : elements) {
        sj::value inner;
        if (const auto code = element.get(inner)) return parse_error(code, "an element");
        CUZK_TRY_STATUS(pass_over(inner, depth + 1));
      }
      return base::ok_status();
    }
    case sj::json_type::string: return scalar<std::string_view>(value.get_string(), "a string");
    case sj::json_type::number: return scalar<sj::number>(value.get_number(), "a number");
    case sj::json_type::boolean: return scalar<bool>(value.get_bool(), "a boolean");
    case sj::json_type::null: return null(value);
  }
  return malformed("a value of no JSON type");
}

Status Reader::null(sj::value value) {
  bool is_null = false;
  if (const auto code = value.is_null().get(is_null)) return parse_error(code, "null");
  return is_null ? base::ok_status() : Status(malformed("expected null"));
}

template <class Object, class Read>
Status Reader::each_member(Object& object, const Read& read) {
  for (auto&& entry : object) {
    sj::field field;
    if (const auto code = std::move(entry).get(field)) return parse_error(code, "a member");
    std::string_view key;
    if (const auto code = field.unescaped_key().get(key)) return parse_error(code, "a name");
    const std::string name(key);
    CUZK_TRY_STATUS(read(name, field.value()));
  }
  return base::ok_status();
}

template <class Object>
Status Reader::members_of(Object& object, std::span<const Member> members) {
  CUZK_ASSERT(members.size() <= 32);
  std::uint32_t seen = 0;  // bit i: member i was there
  CUZK_TRY_STATUS(each_member(object, [&](std::string_view name, sj::value value) -> Status {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i].first != name) continue;
      if ((seen >> i & 1) != 0) return malformed("member " + std::string(name) + " occurs twice");
      seen |= 1u << i;
      return at((path_.empty() ? "" : ".") + std::string(name),
                [&] { return members[i].second(value); });
    }
    return pass_over(value, 0);
  }));
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((seen >> i & 1) == 0) {
      return malformed("member " + std::string(members[i].first) + " is missing");
    }
  }
  return base::ok_status();
}

Status Reader::object(sj::value value, std::span<const Member> members) {
  sj::object inner;
  if (const auto code = value.get_object().get(inner)) return parse_error(code, "an object");
  return members_of(inner, members);
}

// How serde writes an enumeration with data: {"Variant": value}.
Status Reader::sole_member(sj::value value, const NamedRead& read) {
  sj::object inner;
  if (const auto code = value.get_object().get(inner)) return parse_error(code, "an object");
  std::size_t count = 0;
  CUZK_TRY_STATUS(each_member(inner, [&](std::string_view name, sj::value member) -> Status {
    if (++count > 1) return malformed("has a second member " + std::string(name.substr(0, 80)));
    return at("." + std::string(name.substr(0, 80)), [&] { return read(name, member); });
  }));
  return count == 1 ? base::ok_status() : Status(malformed("has no member, expected one"));
}

// Refuses the first element too many before it is read.
Status Reader::array(sj::value value, std::size_t count_min, std::size_t count_max,
                     const std::function<Status(sj::value)>& read) {
  const auto expected = [&] {
    return count_min == count_max ? std::to_string(count_min)
                                  : std::to_string(count_min) + " to " + std::to_string(count_max);
  };
  sj::array elements;
  if (const auto code = value.get_array().get(elements)) return parse_error(code, "an array");
  std::size_t count = 0;
  for (auto element : elements) {
    sj::value inner;
    if (const auto code = element.get(inner)) return parse_error(code, "an element");
    if (count == count_max) {
      return malformed("has more than " + std::to_string(count_max) + " elements, expected " +
                       expected());
    }
    CUZK_TRY_STATUS(at("[" + std::to_string(count) + "]", [&] { return read(inner); }));
    ++count;
  }
  if (count >= count_min) return base::ok_status();
  return malformed("has " + std::to_string(count) + " elements, expected " + expected());
}

Status Reader::integer(sj::value value, std::uint64_t max, std::uint64_t& out) {
  // Negative numbers and fractions are no unsigned integers to the parser.
  if (const auto code = value.get_uint64().get(out)) {
    return parse_error(code, "an integer of 0 to " + std::to_string(max));
  }
  if (out <= max) return base::ok_status();
  return malformed("is " + std::to_string(out) + ", expected at most " + std::to_string(max));
}

Status Reader::text(sj::value value, std::string& out) {
  std::string_view view;
  if (const auto code = value.get_string().get(view)) return parse_error(code, "a string");
  out = view;
  return base::ok_status();
}

// Without a path step for each byte: this loop reads nearly the whole file.
Status Reader::bytes32(sj::value value, Node& out) {
  sj::array elements;
  if (const auto code = value.get_array().get(elements)) return parse_error(code, "an array");
  std::size_t count = 0;
  for (auto element : elements) {
    std::uint64_t byte = 0;
    if (const auto code = element.get_uint64().get(byte)) {
      path_ += "[" + std::to_string(count) + "]";
      return parse_error(code, "an integer of 0 to 255");
    }
    if (count == kNodeByteCount) return malformed("has more than 32 elements, expected 32");
    if (byte > 255) {
      path_ += "[" + std::to_string(count) + "]";
      return malformed("is " + std::to_string(byte) + ", expected at most 255");
    }
    out[count++] = static_cast<std::uint8_t>(byte);
  }
  if (count == kNodeByteCount) return base::ok_status();
  return malformed("has " + std::to_string(count) + " elements, expected 32");
}

// Hashes that enter a tree or a circuit have to be elements; seed and ticket need not.
Status Reader::node(sj::value value, Node& out) {
  CUZK_TRY_STATUS(bytes32(value, out));
  if (to_fr(out)) return base::ok_status();
  return malformed("is not a canonical field element: " + to_hex(out) +
                   " (little-endian) is not below the group order of BLS12-381");
}

Status Reader::nodes(sj::value value, std::size_t count, std::vector<Node>& out) {
  out.reserve(count);
  return array(value, count, count, [&](sj::value element) {
    out.emplace_back();
    return node(element, out.back());
  });
}

// {"path": [{"hashes": [...], "index": n}, ...]}, an element for each of `arities`, appended to
// `out`.
Status Reader::path(sj::value value, std::span<const std::size_t> arities,
                    std::vector<PathElement>& out) {
  std::size_t level = 0;
  const auto element = [&](sj::value inner) {
    CUZK_ASSERT(level < arities.size());  // array() has stopped at the count
    const std::size_t arity = arities[level++];
    PathElement& target = out.emplace_back();
    const Member members[] = {
        {"hashes", [&](sj::value v) { return nodes(v, arity - 1, target.hashes); }},
        {"index", [&](sj::value v) { return integer(v, arity - 1, target.index); }}};
    return object(inner, members);
  };
  const Member members[] = {
      {"path", [&](sj::value v) { return array(v, arities.size(), arities.size(), element); }}};
  return object(value, members);
}

// The variant (Single, Sub or Top) follows from the tree's shape: another one is another tree.
Status Reader::merkle_proof(sj::value value, const TreeShape& shape, MerkleProof& out) {
  CUZK_ASSERT(shape_ != nullptr);  // proofs stand below the name that sets it
  const std::vector<std::size_t> arities = level_arities(shape, shape_->node_count());
  const std::span<const std::size_t> levels = arities;
  const std::size_t upper = (shape.sub_arity != 0) + (shape.top_arity != 0);
  const std::size_t base = levels.size() - upper;
  // Paths are read apart, because members come in any order.
  std::vector<PathElement> parts[3];
  std::vector<Member> members = {{"root", [&](sj::value v) { return node(v, out.root); }},
                                 {"leaf", [&](sj::value v) { return node(v, out.leaf); }}};
  members.emplace_back(upper == 0 ? "path" : "base_proof",
                       [&](sj::value v) { return path(v, levels.first(base), parts[0]); });
  if (upper > 0) {
    members.emplace_back("sub_proof",
                         [&](sj::value v) { return path(v, levels.subspan(base, 1), parts[1]); });
  }
  if (upper > 1) {
    members.emplace_back(
        "top_proof", [&](sj::value v) { return path(v, levels.subspan(base + 1, 1), parts[2]); });
  }
  constexpr std::string_view kVariants[] = {"Single", "Sub", "Top"};
  const auto variant = [&](std::string_view name, sj::value v) -> Status {
    if (name == kVariants[upper]) return object(v, members);
    return malformed("is no path of a tree of shape " + shape.name() + ", expected " +
                     std::string(kVariants[upper]));
  };
  const Member data[] = {{"data", [&](sj::value v) { return sole_member(v, variant); }}};
  CUZK_TRY_STATUS(object(value, data));
  for (auto& part : parts) {
    std::move(part.begin(), part.end(), std::back_inserter(out.path));
  }
  CUZK_ASSERT(out.path.size() == arities.size());
  return base::ok_status();
}

// "_h" marks the hash function in upstream's type and is always null.
Status Reader::column(sj::value value, ColumnProof& out) {
  std::uint64_t index = 0;
  const Member members[] = {
      {"index", [&](sj::value v) { return integer(v, shape_->node_count() - 1, index); }},
      {"rows", [&](sj::value v) { return nodes(v, shape_->layer_count, out.rows); }},
      {"_h", [&](sj::value v) { return null(v); }}};
  CUZK_TRY_STATUS(object(value, members));
  out.index = static_cast<std::uint32_t>(index);
  return base::ok_status();
}

Status Reader::column_proof(sj::value value, ColumnProof& out) {
  const Member members[] = {{"column", [&](sj::value v) { return column(v, out); }},
                            {"inclusion_proof", [&](sj::value v) {
                               return merkle_proof(v, shape_->tree, out.inclusion);
                             }}};
  return object(value, members);
}

Status Reader::column_proofs(sj::value value, std::size_t count, std::vector<ColumnProof>& out) {
  return array(value, count, count,
               [&](sj::value v) { return column_proof(v, out.emplace_back()); });
}

Status Reader::labeling_proof(sj::value value, LabelingProof& out) {
  std::uint64_t layer = 0;
  const Member members[] = {
      {"parents", [&](sj::value v) { return nodes(v, kLabelParentCount, out.parents); }},
      {"layer_index", [&](sj::value v) { return integer(v, shape_->layer_count, layer); }},
      {"node", [&](sj::value v) { return integer(v, shape_->node_count() - 1, out.node); }}};
  CUZK_TRY_STATUS(object(value, members));
  out.layer_index = static_cast<std::uint32_t>(layer);
  return base::ok_status();
}

// Counts come from the size that the member under vanilla_proofs names: it is known here, whatever
// the order of members, because it encloses every proof.
Status Reader::porep_proof(sj::value value, PorepProof& out) {
  const Member columns[] = {
      {"c_x", [&](sj::value v) { return column_proof(v, out.c_x); }},
      {"drg_parents",
       [&](sj::value v) { return column_proofs(v, kBaseParentCount, out.drg_parents); }},
      {"exp_parents",
       [&](sj::value v) { return column_proofs(v, kExpansionParentCount, out.exp_parents); }}};
  const auto labels = [&](sj::value v) {
    return labeling_proof(v, out.labeling_proofs.emplace_back());
  };
  const std::size_t layers = shape_->layer_count;
  const Member members[] = {
      {"comm_d_proofs",
       [&](sj::value v) { return merkle_proof(v, kBinaryTree, out.comm_d_proof); }},
      {"comm_r_last_proof",
       [&](sj::value v) { return merkle_proof(v, shape_->tree, out.comm_r_last_proof); }},
      {"replica_column_proofs", [&](sj::value v) { return object(v, columns); }},
      {"labeling_proofs", [&](sj::value v) { return array(v, layers, layers, labels); }},
      {"encoding_proof", [&](sj::value v) { return labeling_proof(v, out.encoding_proof); }}};
  return object(value, members);
}

// The name of the one member fixes the size, and with it all counts below.
Status Reader::vanilla_proofs(sj::value value, PorepC1& out) {
  return sole_member(value, [&](std::string_view name, sj::value v) -> Status {
    for (const SectorShape& shape : all_sector_shapes()) {
      const std::string known = "StackedDrg" + std::string(shape.name) + "V1";
      if (shape.has_registered_proofs && name == known) shape_ = &shape;
    }
    if (shape_ == nullptr) return malformed("is no kind of vanilla proof");
    const std::size_t challenges = shape_->porep_challenges_per_partition;
    const auto partition = [&](sj::value p) {
      PorepPartition& proofs = out.partitions.emplace_back();
      return array(p, challenges, challenges,
                   [&](sj::value c) { return porep_proof(c, proofs.emplace_back()); });
    };
    return array(v, 1, shape_->porep_partition_count(PorepKind::kNonInteractive), partition);
  });
}

// After all members are known: do name, vanilla proofs and number of partitions fit each other?
Status Reader::registered(const std::string& name, PorepC1& out) {
  auto proof = registered_seal_by_name(name);
  if (!proof.ok()) return malformed("registered_proof: " + proof.error().message);
  CUZK_ASSERT(shape_ != nullptr);  // no member is missing
  out.registered_proof = *proof;
  if (proof->shape != shape_) {
    return malformed("registered_proof is " + name + " but vanilla_proofs holds proofs of " +
                     std::string(shape_->name) + " sectors");
  }
  const std::size_t expected = out.config().partition_count();
  if (out.partitions.size() == expected) return base::ok_status();
  return malformed("vanilla_proofs has " + std::to_string(out.partitions.size()) +
                   " partitions, expected " + std::to_string(expected) + " for " + name);
}

Status Reader::read_inner(PorepC1& out) {
  std::string name;
  const Member members[] = {{"registered_proof", [&](sj::value v) { return text(v, name); }},
                            {"vanilla_proofs", [&](sj::value v) { return vanilla_proofs(v, out); }},
                            {"comm_r", [&](sj::value v) { return node(v, out.comm_r); }},
                            {"comm_d", [&](sj::value v) { return node(v, out.comm_d); }},
                            {"replica_id", [&](sj::value v) { return node(v, out.replica_id); }},
                            {"seed", [&](sj::value v) { return bytes32(v, out.seed); }},
                            {"ticket", [&](sj::value v) { return bytes32(v, out.ticket); }}};
  CUZK_TRY_STATUS(document(members));
  return registered(name, out);
}

Status Reader::document(std::span<const Member> members) {
  sj::object top;
  if (const auto code = document_.get_object().get(top)) return parse_error(code, "an object");
  CUZK_TRY_STATUS(members_of(top, members));
  // At the end of the object the parser must be at the end of the text.
  const char* rest = nullptr;
  if (document_.current_location().get(rest) == simdjson::OUT_OF_BOUNDS) return base::ok_status();
  return malformed("something follows the end of the JSON object");
}

// The two forms share no member, so one name decides. This pass skips values without parsing them;
// the second one parses all.
base::Result<bool> Reader::has_outer_form() {
  sj::object top;
  if (const auto code = document_.get_object().get(top)) return parse_error(code, "an object");
  bool found = false;
  CUZK_TRY_STATUS(each_member(top, [&](std::string_view name, sj::value) -> Status {
    found = found || name == "Phase1Out";
    return base::ok_status();
  }));
  document_.rewind();
  return found;
}

// SectorSize is redundant and has to agree with what is inside.
base::Result<C1File> Reader::read_outer() {
  std::uint64_t sector_number = 0, sector_size = 0;
  base::Bytes inner;
  const auto phase1 = [&](sj::value v) -> Status {
    std::string_view encoded;
    if (const auto code = v.get_string().get(encoded)) return parse_error(code, "a string");
    CUZK_TRY(inner, base64_decode(encoded, source_ + ": Phase1Out"));
    return base::ok_status();
  };
  const Member members[] = {
      {"SectorNum", [&](sj::value v) { return integer(v, ~std::uint64_t{0}, sector_number); }},
      {"Phase1Out", phase1},
      {"SectorSize", [&](sj::value v) { return integer(v, ~std::uint64_t{0}, sector_size); }}};
  CUZK_TRY_STATUS(document(members));
  Reader reader(source_ + ": Phase1Out");
  CUZK_TRY_STATUS(reader.open(inner));
  C1File out;
  CUZK_TRY_STATUS(reader.read_inner(out.c1));
  if (sector_size != out.c1.registered_proof.shape->byte_count) {
    return malformed("SectorSize is " + std::to_string(sector_size) + " but Phase1Out is of a " +
                     std::string(out.c1.registered_proof.shape->name) + " sector");
  }
  out.sector_number = sector_number;
  return out;
}

base::Result<C1File> Reader::read() {
  CUZK_TRY(const bool is_outer, has_outer_form());
  if (is_outer) return read_outer();
  C1File out;
  CUZK_TRY_STATUS(read_inner(out.c1));
  return out;
}

}  // namespace

base::Result<C1File> read_c1(base::ByteSpan json, const std::string& source) {
  Reader reader(source);
  CUZK_TRY_STATUS(reader.open(json));
  return reader.read();
}

}  // namespace cuzk::filecoin
