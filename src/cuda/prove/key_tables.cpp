// Tables are made on the stream of what is resident, beside the proofs' own: its points and the
// tables go in its order, so nobody need wait for a table that is dropped while it is filled.
#include "cuda/prove/key_tables.h"

#include "base/log.h"
#include "cuda/msm/multiples_table.h"
#include "cuda/prove/loaded_circuit.h"

namespace cuzk::cuda::prove {
namespace {

template <class G>
base::Status queue_table(const device::Stream& stream, const PointStore<G>& store, int query,
                         device::Arena& arena, KeyTables& out) {
  using Point = cuzk::curve::Affine<G>;
  const int table_count = out.counts[query];
  if (table_count < 2) return base::ok_status();
  CUZK_ASSERT(store.is_resident());
  const auto table = arena.take<Point>(store.count * static_cast<std::size_t>(table_count));
  CUZK_TRY_STATUS(device::copy_bytes_on_device(
      stream, table.data, store.device_points_from(store.first), store.count * sizeof(Point)));
  out.points[query] = reinterpret_cast<std::byte*>(table.data);
  out.point_counts[query] = store.count;
  return msm::fill_table<G>(stream, table_count, table);
}

template <class C>
base::Result<std::shared_ptr<KeyTables>> queue_tables(Context& context,
                                                      const LoadedCircuit<C>& circuit,
                                                      const TablePlan& plan) {
  const device::Stream& stream = circuit.stream();
  auto out = std::make_shared<KeyTables>();
  CUZK_TRY(out->filled, device::Event::create());
  CUZK_TRY(out->memory, context.allocate_spare(stream, plan.bytes, "tables of multiples"));
  out->counts = plan.counts;
  device::Arena arena(out->memory.buffer());
  for (int q = 0; q < kQueryB2; ++q) {
    CUZK_TRY_STATUS(queue_table<typename C::G1>(stream, circuit.g1(q), q, arena, *out));
  }
  CUZK_TRY_STATUS(queue_table<typename C::G2>(stream, circuit.b_g2(), kQueryB2, arena, *out));
  CUZK_TRY_STATUS(stream.record(out->filled));
  return out;
}

std::string description(int device_index, const TablePlan& plan) {
  constexpr std::string_view kNames[] = {"H", "L", "A", "B in G1", "B in G2"};
  std::string text = "device " + std::to_string(device_index) +
                     " makes tables of multiples of a key, " + std::to_string(plan.bytes) +
                     " bytes, which " + std::to_string(plan.proofs_to_earn()) + " proofs earn:";
  for (int q = 0; q < kQueryCount; ++q) {
    if (plan.counts[q] < 2) continue;
    text += " " + std::to_string(plan.counts[q]) + " of " + std::string(kNames[q]);
  }
  return text;
}

}  // namespace

template <class C>
void prepare_tables(Context& context, const LoadedCircuit<C>& circuit, const ProofSizes& sizes,
                    const ProofPlan& plan, unsigned lanes, TableUse use,
                    const ScratchModel& model) {
  if (use == TableUse::kNever) return;
  const bool at_once = use == TableUse::kAtOnce;
  CircuitTables& tables = circuit.tables();
  const auto make_plan = [&] {
    const std::uint64_t budget = context.budget_bytes();
    const std::uint64_t room = table_room(budget, budget - context.room_bytes(),
                                          context.spare_bytes(), plan.workspace_bytes, lanes);
    return plan_tables(sizes, plan, room, at_once ? TableRules::any() : TableRules(), model);
  };
  const auto make = [&](const TablePlan& wanted) {
    auto made = queue_tables<C>(context, circuit, wanted);
    // A device that was lost is met by the proof itself.
    if (made.ok() && at_once && !(*made)->filled.synchronize().ok()) return false;
    if (!made.ok()) {
      base::log(base::LogLevel::kDebug, "no tables of multiples: " + made.error().message);
      return false;
    }
    base::log(base::LogLevel::kInfo, description(context.info().index, wanted));
    tables.slot().put(std::move(made).value());
    return true;
  };
  tables.schedule().count_proof(
      at_once, [&] { return tables.slot().get() != nullptr; }, make_plan, make);
}

template void prepare_tables(Context&, const LoadedCircuit<cuzk::curve::Bls12_381>&,
                             const ProofSizes&, const ProofPlan&, unsigned, TableUse,
                             const ScratchModel&);
template void prepare_tables(Context&, const LoadedCircuit<cuzk::curve::Bn254>&, const ProofSizes&,
                             const ProofPlan&, unsigned, TableUse, const ScratchModel&);

}  // namespace cuzk::cuda::prove
