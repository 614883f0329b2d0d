// Writing commit-phase-1 output: compact JSON, members in upstream's order of declaration, so that
// the bytes are those that upstream's serialiser writes for the same proofs (tests compare
// digests). Nothing in these types needs escaping, so text is appended as it is. The whole file is
// made in memory: more than twice its size in the outer form, where the inner bytes are encoded
// once more.
#include "filecoin/base64.h"
#include "filecoin/porep/c1_json.h"

namespace cuzk::filecoin {
namespace {

// Appends JSON to one string. Members are written by hand: their order is part of the format.
class Writer {
 public:
  std::string take() && { return std::move(out_); }

  void text(std::string_view s) { out_ += s; }
  void number(std::uint64_t value) { out_ += std::to_string(value); }

  // A node is an array of 32 integers, not hex: so upstream serialises byte arrays.
  void node(const Node& value) {
    list(value, [this](std::uint8_t byte) { number(byte); });
  }
  void nodes(const std::vector<Node>& values) {
    list(values, [this](const Node& value) { node(value); });
  }
  // [item, item, ...], each written by `item`.
  template <class Range, class Item>
  void list(const Range& values, const Item& item) {
    out_ += '[';
    bool is_first = true;
    for (const auto& value : values) {
      if (!is_first) out_ += ',';
      is_first = false;
      item(value);
    }
    out_ += ']';
  }

  // Levels in order, leaf side first.
  void path(std::span<const PathElement> elements) {
    text("{\"path\":");
    list(elements, [this](const PathElement& element) {
      text("{\"hashes\":");
      nodes(element.hashes);
      text(",\"index\":");
      number(element.index);
      text("}");
    });
    text("}");
  }
  void merkle_proof(const MerkleProof& proof, const TreeShape& shape);
  void column_proof(const ColumnProof& proof, const TreeShape& shape);
  void labeling_proof(const LabelingProof& proof);
  void porep_proof(const PorepProof& proof, const TreeShape& shape);

 private:
  std::string out_;
};

// Upstream has three forms, by the number of upper levels: Single, Sub and Top.
void Writer::merkle_proof(const MerkleProof& proof, const TreeShape& shape) {
  const std::span<const PathElement> elements = proof.path;
  const std::size_t upper = (shape.sub_arity != 0) + (shape.top_arity != 0);
  CUZK_ASSERT(elements.size() >= upper);
  const std::size_t base = elements.size() - upper;
  if (upper == 0) {
    text("{\"data\":{\"Single\":{\"root\":");
    node(proof.root);
    text(",\"leaf\":");
    node(proof.leaf);
    text(",\"path\":");
    path(elements);
  } else {
    text(upper == 1 ? "{\"data\":{\"Sub\":{\"base_proof\":"
                    : "{\"data\":{\"Top\":{\"base_proof\":");
    path(elements.first(base));
    text(",\"sub_proof\":");
    path(elements.subspan(base, 1));
    if (upper == 2) {
      text(",\"top_proof\":");
      path(elements.subspan(base + 1, 1));
    }
    text(",\"root\":");
    node(proof.root);
    text(",\"leaf\":");
    node(proof.leaf);
  }
  text("}}}");
}

// "_h" is a marker of the hash function in upstream's type and always null.
void Writer::column_proof(const ColumnProof& proof, const TreeShape& shape) {
  text("{\"column\":{\"index\":");
  number(proof.index);
  text(",\"rows\":");
  nodes(proof.rows);
  text(",\"_h\":null},\"inclusion_proof\":");
  merkle_proof(proof.inclusion, shape);
  text("}");
}

void Writer::labeling_proof(const LabelingProof& proof) {
  text("{\"parents\":");
  nodes(proof.parents);
  text(",\"layer_index\":");
  number(proof.layer_index);
  text(",\"node\":");
  number(proof.node);
  text("}");
}

void Writer::porep_proof(const PorepProof& proof, const TreeShape& shape) {
  const auto column = [&](const ColumnProof& c) { column_proof(c, shape); };
  text("{\"comm_d_proofs\":");
  merkle_proof(proof.comm_d_proof, kBinaryTree);
  text(",\"comm_r_last_proof\":");
  merkle_proof(proof.comm_r_last_proof, shape);
  text(",\"replica_column_proofs\":{\"c_x\":");
  column(proof.c_x);
  text(",\"drg_parents\":");
  list(proof.drg_parents, column);
  text(",\"exp_parents\":");
  list(proof.exp_parents, column);
  text("},\"labeling_proofs\":");
  list(proof.labeling_proofs, [this](const LabelingProof& p) { labeling_proof(p); });
  text(",\"encoding_proof\":");
  labeling_proof(proof.encoding_proof);
  text("}");
}

}  // namespace

std::string write_c1_inner(const PorepC1& c1) {
  CUZK_ASSERT(c1.registered_proof.shape != nullptr);
  const TreeShape& shape = c1.registered_proof.shape->tree;
  Writer writer;
  writer.text("{\"registered_proof\":\"" + c1.registered_proof.name() +
              "\",\"vanilla_proofs\":{\"" + c1.registered_proof.vanilla_name() + "\":");
  writer.list(c1.partitions, [&](const PorepPartition& partition) {
    writer.list(partition, [&](const PorepProof& proof) { writer.porep_proof(proof, shape); });
  });
  writer.text("}");
  const std::pair<std::string_view, const Node*> members[] = {{"comm_r", &c1.comm_r},
                                                              {"comm_d", &c1.comm_d},
                                                              {"replica_id", &c1.replica_id},
                                                              {"seed", &c1.seed},
                                                              {"ticket", &c1.ticket}};
  for (const auto& [name, value] : members) {
    writer.text(",\"" + std::string(name) + "\":");
    writer.node(*value);
  }
  writer.text("}");
  return std::move(writer).take();
}

std::string write_c1_outer(const PorepC1& c1, std::uint64_t sector_number) {
  const std::string inner = write_c1_inner(c1);
  const auto bytes =
      base::ByteSpan(reinterpret_cast<const std::uint8_t*>(inner.data()), inner.size());
  return "{\"SectorNum\":" + std::to_string(sector_number) + ",\"Phase1Out\":\"" +
         base64_encode(bytes) +
         "\",\"SectorSize\":" + std::to_string(c1.registered_proof.shape->byte_count) + "}";
}

}  // namespace cuzk::filecoin
