// The order of a proof: witness up, a and b, six transforms, the sum over H, then the queries that
// follow the witness. Host code throughout; kernels are behind evaluation.h, selection.h and msm/.
//
// Everything is queued on the lane's compute stream, which orders stages that share bytes; the host
// waits for the sums, and before it joins a pass over a streamed query. Where H's scalars are
// formed H comes first: they take the most room, and nothing else needs them.
#include "cuda/prove/prover.h"

#include <algorithm>

#include "base/threads.h"
#include "cuda/device/fault.h"
#include "cuda/msm/bitmap.h"
#include "cuda/msm/msm.h"
#include "cuda/msm/multiples_table.h"
#include "cuda/prove/drain.h"
#include "cuda/prove/field_vectors.h"
#include "cuda/prove/host_image.h"
#include "cuda/prove/piece_feed.h"
#include "cuda/prove/row_evaluator.h"
#include "cuda/prove/selection.h"
#include "cuda/prove/spilled_quotient.h"

namespace cuzk::cuda::prove {
namespace {

// The scalars of a run before each of its words.
template <class F>
HostImage::WriteWords ranks_of(const r1cs::CompactWitness<F>& run) {
  return [&run](std::size_t first, std::span<std::uint32_t> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<std::uint32_t>(run.scalar_rank(64 * (first + i)));
    }
  };
}

msm::MsmPolicy policy_within(std::uint64_t limit_bytes) {
  msm::MsmPolicy policy;
  if (limit_bytes != 0) {
    // Rounds of affine additions keep their points; fewer windows at once cost more than rounds
    // gain.
    policy.affine_rounds_max = 0;
    policy.scratch_bytes_max = std::min(policy.scratch_bytes_max, limit_bytes);
  }
  return policy;
}

// The one way to plan a query's multiplication, for its sizes and for its work.
template <class G>
base::Result<msm::MsmPlan> multiply_plan(const MultiplySizes& sizes) {
  const auto policy = policy_within(sizes.limit_bytes);
  if (!sizes.in_parts) return msm::plan_msm<G>(sizes.count, policy);
  return msm::plan_parts<G>(sizes.count, sizes.part_count, policy);
}

template <class G>
std::uint64_t multiply_bytes_of(const MultiplySizes& sizes) {
  const auto plan = multiply_plan<G>(sizes);
  return plan.ok() ? plan->scratch_bytes : ~std::uint64_t{0} >> 2;
}

// The plan with tables, where it does in the scratch of the plan without all that this one does.
template <class G>
std::optional<msm::MsmPlan> table_plan(const MultiplySizes& sizes, int table_count,
                                       std::uint64_t scratch_bytes) {
  if (sizes.in_parts || sizes.count == 0 || table_count < 2) return std::nullopt;
  const auto without = multiply_plan<G>(sizes);
  msm::MsmPolicy policy = policy_within(sizes.limit_bytes);
  policy.table_count = table_count;
  policy.scratch_bytes_max = std::min(policy.scratch_bytes_max, scratch_bytes);
  auto with = msm::plan_msm<G>(sizes.count, policy);
  if (!without.ok() || !with.ok() || without->is_in_parts || with->is_in_parts ||
      with->scratch_bytes > scratch_bytes || with->affine_rounds < without->affine_rounds) {
    return std::nullopt;
  }
  return std::move(with).value();
}

template <class G>
TableOffer table_offer(const MultiplySizes& sizes, std::uint64_t scratch_bytes,
                       const TableWish& wish) {
  const auto choice = msm::choose_tables<G>(
      sizes.count, wish.table_count_max, wish.gain_min, wish.saved_per_table_min,
      policy_within(sizes.limit_bytes),
      [&](int tables) { return table_plan<G>(sizes, tables, scratch_bytes).has_value(); });
  return {choice.table_count, choice.saved, msm::fill_cost<G>(choice.table_count)};
}

}  // namespace

template <class F>
WitnessArrays<F>::WitnessArrays(device::Arena& arena, const r1cs::Assignment<F>& assignment,
                                const r1cs::CompactWitness<F>& input_run) {
  const auto& aux = assignment.aux;
  inputs = arena.take<F>(assignment.inputs.size());
  input_scalars = arena.take<F>(input_run.scalar_count());
  aux_scalars = arena.take<F>(aux.scalar_count());
  input_bits = arena.take<std::uint64_t>(input_run.bits().words().size());
  input_mask = arena.take<std::uint64_t>(input_run.scalar_mask().words().size());
  aux_bits = arena.take<std::uint64_t>(aux.bits().words().size());
  aux_mask = arena.take<std::uint64_t>(aux.scalar_mask().words().size());
  input_rank = arena.take<std::uint32_t>(input_run.scalar_mask().words().size());
  aux_rank = arena.take<std::uint32_t>(aux.scalar_mask().words().size());
}

template <class C>
std::uint64_t KernelScratch<C>::multiply_bytes(const MultiplySizes& sizes) const {
  return sizes.in_g2 ? multiply_bytes_of<typename C::G2>(sizes)
                     : multiply_bytes_of<typename C::G1>(sizes);
}
template <class C>
std::uint64_t KernelScratch<C>::bitmap_bytes(bool in_g2, std::uint64_t count) const {
  const std::uint64_t bytes = in_g2 ? msm::bitmap_scratch_bytes<typename C::G2>(count)
                                    : msm::bitmap_scratch_bytes<typename C::G1>(count);
  // A shorter piece can take a little more, where it has a round of additions less.
  constexpr std::uint64_t kRoundings = std::uint64_t{64} << 10;
  return count == 0 ? 0 : bytes + bytes / 16 + kRoundings;
}
template <class C>
TableOffer KernelScratch<C>::tables(const MultiplySizes& sizes, std::uint64_t scratch_bytes,
                                    const TableWish& wish) const {
  return sizes.in_g2 ? table_offer<typename C::G2>(sizes, scratch_bytes, wish)
                     : table_offer<typename C::G1>(sizes, scratch_bytes, wish);
}

namespace {

template <class F>
ScalarMasks masks_of(const r1cs::Assignment<F>& assignment,
                     const r1cs::CompactWitness<F>& input_run) {
  return {input_run.scalar_mask().words(), assignment.aux.scalar_mask().words()};
}

}  // namespace

template <class C>
SharedWork shared_work(const groth16::ProveInputs<C>& inputs,
                       const CircuitFacts<typename C::Fr>& facts,
                       const r1cs::CompactWitness<typename C::Fr>& input_run, bool b_g2_on_device) {
  SharedWork work;
  work.domain_log2 = static_cast<unsigned>(inputs.key->domain_log2);
  work.h_count = inputs.key->h.size();
  work.layouts = &facts.layouts;
  work.masks = masks_of(*inputs.assignment, input_run);
  work.point_bytes.fill(sizeof(cuzk::curve::Affine<typename C::G1>));
  work.point_bytes[kQueryB2] = sizeof(cuzk::curve::Affine<typename C::G2>);
  work.b_g2_on_device = b_g2_on_device;
  return work;
}

template <class C>
ProofSizes proof_sizes(const groth16::ProveInputs<C>& inputs,
                       const CircuitFacts<typename C::Fr>& facts,
                       const r1cs::CompactWitness<typename C::Fr>& input_run,
                       const ProofPart& part) {
  using Fr = typename C::Fr;
  ProofSizes sizes;
  sizes.domain_log2 = static_cast<unsigned>(inputs.key->domain_log2);
  sizes.forms_quotient = part.forms_quotient;
  sizes.streamed_piece_points = part.streamed_piece_points;
  sizes.evaluation_buffers_most = part.evaluation_buffers_most;
  // In tiles its scalars are nowhere on the device, where others could take them.
  const bool sums_all_of_h = part.queries[kQueryH].point_count == inputs.key->h.size();
  sizes.evaluation_buffers_least = sums_all_of_h ? 0 : 1;
  device::Arena arena;
  const WitnessArrays<Fr> witness(arena, *inputs.assignment, input_run);
  sizes.witness_bytes = arena.used_bytes();
  if (part.forms_quotient) sizes.matrix_bytes = matrix_bytes(*inputs.shape);
  sizes.table_bytes = table_bytes(*inputs.shape, facts);
  // A row alone in a tile, its start and the next.
  sizes.longest_row_bytes = facts.longest_row * sizeof(r1cs::Term) + 1024;
  const auto masks = masks_of(*inputs.assignment, input_run);
  for (int q = 0; q < kQueryCount; ++q) {
    QuerySizes& query = sizes.queries[q];
    query.point_count = part.queries[q].point_count;
    query.scalar_count =
        q == kQueryH ? query.point_count
                     : selected_scalar_count(facts.layouts[q], masks, part.queries[q].words);
    query.in_g2 = q == kQueryB2;
    query.point_bytes = query.in_g2 ? sizeof(cuzk::curve::Affine<typename C::G2>)
                                    : sizeof(cuzk::curve::Affine<typename C::G1>);
    query.is_used = part.queries[q].is_used;
  }
  return sizes;
}

namespace {

// One proof in flight.
template <class C>
class ProofRun {
 public:
  using Fr = typename C::Fr;
  using G1 = typename C::G1;
  using G2 = typename C::G2;

  ProofRun(const Context& context, Lane& lane, const LoadedCircuit<C>& circuit,
           const ProofSizes& sizes, const ProofPlan& plan, const device::Buffer& workspace,
           const groth16::ProveInputs<C>& inputs, const r1cs::CompactWitness<Fr>& input_run,
           bool exact_stages, const Sharing& sharing, const KeyTables* tables, HostVectors& host)
      : context_(context),
        lane_(lane),
        circuit_(circuit),
        tables_(tables),
        sizes_(sizes),
        plan_(plan),
        inputs_(inputs),
        input_run_(input_run),
        exact_stages_(exact_stages),
        sharing_(sharing),
        host_(host),
        arena_(workspace),
        witness_(arena_, *inputs.assignment, input_run),
        sums_(arena_, sizes, plan),
        quotient_(take_arriving_scalars(arena_, sizes)) {}

  base::Result<ProofSums<C>> run() {
    CUZK_TRY_STATUS(offer_place());
    if (circuit_.part().reads_witness()) {
      begin_stage("witness to the device");
      CUZK_TRY_STATUS(upload_witness());
      CUZK_TRY_STATUS(end_stage("witness to the device"));
    }
    QueuedSum<G1> h;
    if (sizes_.forms_quotient) {
      CUZK_TRY_STATUS(form_quotient());
      CUZK_TRY_STATUS(hand_over());
      CUZK_TRY(h, queue_h());
      // What comes next takes the place of the scalars.
      if (is_shared()) CUZK_TRY_STATUS(sharing_.handover->wait_until_sent(lane_.compute));
      CUZK_TRY_STATUS(give_back_host());
    }
    CUZK_TRY_STATUS(queue_witness_queries());
    if (!sizes_.forms_quotient && sizes_.queries[kQueryH].is_used) {
      CUZK_TRY_STATUS(
          sharing_.handover->receive(sharing_.seat, lane_.compute, inputs_.control.cancel));
      CUZK_TRY(h, queue_h());
    }
    begin_stage("sums from the device");
    CUZK_TRY_STATUS(lane_.compute.synchronize());
    ProofSums<C> sums;
    CUZK_TRY(sums.h, collect<G1>(h));
    CUZK_TRY_STATUS(check_degree());
    CUZK_TRY(sums.l, collect<G1>(queued_[kQueryL]));
    CUZK_TRY(sums.a, collect<G1>(queued_[kQueryA]));
    CUZK_TRY(sums.b_g1, collect<G1>(queued_[kQueryB1]));
    if (queued_b_g2_.is_queued) {
      CUZK_TRY(sums.b_g2, collect<G2>(queued_b_g2_));
    }
    CUZK_TRY_STATUS(end_stage("sums from the device"));
    return sums;
  }

 private:
  void begin_stage(std::string_view name) { inputs_.control.begin_stage(name, 1); }
  base::Status end_stage(std::string_view name) {
    if (exact_stages_) CUZK_TRY_STATUS(lane_.compute.synchronize());
    inputs_.control.advance(1);
    return inputs_.control.check(name);
  }

  bool is_shared() const { return sharing_.handover != nullptr; }

  // Tells whoever forms H's scalars where to put those that are summed here.
  base::Status offer_place() {
    if (!is_shared() || sizes_.forms_quotient) return base::ok_status();
    const QueryPart& part = circuit_.part().queries[kQueryH];
    if (!part.is_used) {
      sharing_.handover->decline(sharing_.seat);
      return base::ok_status();
    }
    return sharing_.handover->offer(sharing_.seat, context_.info().index,
                                    part.first_point * kScalarBytes, quotient_, lane_.compute);
  }

  base::Status hand_over() {
    if (!is_shared()) return base::ok_status();
    return sharing_.handover->send(context_.info().index, {quotient_.data, quotient_.size},
                                   lane_.compute, lane_.copy, inputs_.control.cancel);
  }

  // Scalars that are summed from the host are up when the sum is queued and the stream has come.
  base::Status give_back_host() {
    if (plan_.evaluation_buffers > 0) return base::ok_status();
    CUZK_TRY_STATUS(lane_.compute.synchronize());
    host_.release();
    return base::ok_status();
  }

  // The witness as it will lie on the device, from `base` on.
  HostImage witness_image(const std::byte* base) const {
    HostImage image;
    const auto place = [&]<class T>(const device::DeviceSpan<T>& part) {
      return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(part.data) - base);
    };
    const auto put = [&]<class T>(const device::DeviceSpan<T>& part, std::span<const T> values) {
      CUZK_ASSERT(part.size == values.size());
      image.add<T>(place(part), values);
    };
    const auto& assignment = *inputs_.assignment;
    put(witness_.inputs, std::span<const Fr>(assignment.inputs));
    put(witness_.input_scalars, input_run_.scalars());
    put(witness_.aux_scalars, assignment.aux.scalars());
    put(witness_.input_bits, input_run_.bits().words());
    put(witness_.input_mask, input_run_.scalar_mask().words());
    put(witness_.aux_bits, assignment.aux.bits().words());
    put(witness_.aux_mask, assignment.aux.scalar_mask().words());
    image.add_words(place(witness_.input_rank), witness_.input_rank.size, ranks_of(input_run_));
    image.add_words(place(witness_.aux_rank), witness_.aux_rank.size, ranks_of(assignment.aux));
    return image;
  }

  // Packs the witness into staging and queues one copy, or several where staging is too small.
  base::Status upload_witness() {
    const std::uint64_t bytes = sizes_.witness_bytes;
    if (bytes == 0) return base::ok_status();
    CUZK_TRY_STATUS(lane_.grow_staging(bytes));
    auto* const base = reinterpret_cast<std::byte*>(witness_.inputs.data);
    const HostImage image = witness_image(base);
    const std::span<std::byte> staging = lane_.staging.bytes();
    if (staging.size() < bytes) {
      return copy_through(lane_.compute, staging, lane_.staging_free, base, bytes, 1,
                          [&](std::uint64_t first, std::span<std::byte> out) {
                            image.write(first, out);
                            return base::ok_status();
                          });
    }
    image.write(0, staging.first(bytes));
    return device::copy_bytes_to_device(lane_.compute, base, staging.data(), bytes);
  }

  RunView<Fr> input_view() const {
    return {witness_.input_bits.data, witness_.input_mask.data, witness_.input_rank.data,
            witness_.input_scalars.data, input_run_.size()};
  }
  RunView<Fr> aux_view() const {
    return {witness_.aux_bits.data, witness_.aux_mask.data, witness_.aux_rank.data,
            witness_.aux_scalars.data, inputs_.assignment->aux.size()};
  }

  RowEvaluator<C> row_evaluator() const {
    const WitnessView<Fr> view{witness_.inputs.data, inputs_.shape->input_count, aux_view()};
    return {circuit_, *inputs_.shape, view, plan_.matrices_resident};
  }

  SpilledQuotient<C> spilled_quotient(const RowEvaluator<C>& rows) const {
    return {circuit_, lane_, rows, plan_, inputs_.key->convention, inputs_.control, host_};
  }

  // Evaluation is among the transforms here. What the host holds goes when it is not read any more:
  // of one vector at once, of tiles when the sum over H has its scalars.
  base::Status form_spilled_quotient(const EvaluationArrays& arrays) {
    begin_stage("transforms");
    const std::uint64_t vector_bytes = kScalarBytes << sizes_.domain_log2;
    CUZK_TRY_STATUS(host_.take(host_vector_count(plan_), vector_bytes, lane_.device_index));
    const RowEvaluator<C> rows = row_evaluator();
    const SpilledQuotient<C> quotient = spilled_quotient(rows);
    const bool has_top = inputs_.key->convention == groth16::QapConvention::kCoefficients;
    if (plan_.evaluation_buffers == 0) {
      CUZK_TRY_STATUS(quotient.form_on_host(arrays));
      if (has_top) *top() = quotient.top();
    } else {
      quotient_ = arrays.values[0];
      CUZK_TRY_STATUS(quotient.form_on_device(arrays));
      const auto scalars = elements_of<Fr>(quotient_);
      if (has_top) {
        CUZK_TRY_STATUS(
            device::download<Fr>(lane_.compute, {top(), 1}, scalars.subset(scalars.size - 1, 1)));
      }
      CUZK_TRY_STATUS(lane_.compute.synchronize());
      host_.release();
    }
    has_top_ = has_top;
    return end_stage("transforms");
  }

  // The scalars of H, as plain integers in values[0]: groth16/quotient.h derives the six
  // transforms. c = a b is kept in a third buffer, or evaluated once more.
  base::Status form_quotient() {
    using poly::Order;
    using poly::Points;
    device::Arena arena = arena_;
    const EvaluationArrays arrays(arena, sizes_, plan_);
    if (plan_.evaluation_buffers < 2) return form_spilled_quotient(arrays);
    begin_stage("evaluation");
    const RowEvaluator<C> rows = row_evaluator();
    const auto evaluate = [&](int matrix_id, device::DeviceSpan<Fr> out,
                              RowUse use = RowUse::kStore) {
      return rows.evaluate(lane_.compute, matrix_id, 0, out, arrays.tile, use);
    };
    const auto a = elements_of<Fr>(arrays.values[0]), b = elements_of<Fr>(arrays.values[1]);
    quotient_ = arrays.values[0];
    const bool keeps_c = plan_.evaluation_buffers == 3;
    const auto c = keeps_c ? elements_of<Fr>(arrays.values[2]) : b;
    const auto& transform = circuit_.transform();
    CUZK_TRY_STATUS(evaluate(0, a));
    CUZK_TRY_STATUS(evaluate(1, b));
    if (keeps_c) {
      CUZK_TRY_STATUS(multiply_into<Fr>(lane_.compute, c, reading(a), reading(b)));
    }
    CUZK_TRY_STATUS(end_stage("evaluation"));
    begin_stage("transforms");
    CUZK_TRY_STATUS(to_coset(transform, lane_.compute, a));
    CUZK_TRY_STATUS(to_coset(transform, lane_.compute, b));
    CUZK_TRY_STATUS(multiply_pointwise<Fr>(lane_.compute, a, reading(b)));
    if (!keeps_c) {
      // b is spent; c = a b wants a's values again, whose place holds the product.
      CUZK_TRY_STATUS(evaluate(0, b));
      CUZK_TRY_STATUS(evaluate(1, b, RowUse::kMultiplyInto));
    }
    CUZK_TRY_STATUS(transform.inverse(lane_.compute, c, Order::kNaturalToReversed));
    if (inputs_.key->convention == groth16::QapConvention::kOddCosetLagrange) {
      CUZK_TRY_STATUS(
          transform.forward(lane_.compute, c, Order::kReversedToNatural, Points::kCoset));
      CUZK_TRY_STATUS(
          quotient_integers<Fr>(lane_.compute, a, reading(c), circuit_.quotient_scale()));
      return end_stage("transforms");
    }
    CUZK_TRY_STATUS(transform.inverse(lane_.compute, a, Order::kNaturalToReversed, Points::kCoset));
    CUZK_TRY_STATUS(quotient_integers<Fr>(lane_.compute, a, reading(c), circuit_.quotient_scale()));
    CUZK_TRY_STATUS(transform.reverse_order(lane_.compute, a));
    CUZK_TRY_STATUS(device::download<Fr>(lane_.compute, {top(), 1}, a.subset(a.size - 1, 1)));
    has_top_ = true;
    return end_stage("transforms");
  }

  // Where the coefficient of degree m - 1 arrives.
  Fr* top() const {
    static_assert(sizeof(Fr) <= kResultBytes);
    return reinterpret_cast<Fr*>(lane_.results.bytes().data());
  }

  // deg h <= m - 2 whatever the witness: anything else is a fault of arithmetic or memory. The
  // stream was waited for.
  base::Status check_degree() {
    if (!has_top_ || top()->is_zero()) return base::ok_status();
    const std::string reason = "device " + std::to_string(context_.info().index) +
                               " computes wrongly: the quotient polynomial has a coefficient of "
                               "degree m - 1; none of its results may be used";
    device::condemn(context_.info().index, reason);
    return base::Error{base::ErrorKind::kUnavailable, reason};
  }

  // A query's sums that are queued: one of products, and one of ones for each piece.
  template <class G>
  struct QueuedSum {
    msm::MsmPlan plan;
    device::DeviceSpan<std::byte> product, bitmaps;
    std::size_t bitmap_count = 0;
    bool is_queued = false;  // false: infinity here, what there is of it is summed elsewhere
  };

  template <class G>
  base::Result<cuzk::curve::Jacobian<G>> collect(const QueuedSum<G>& queued) {
    if (!queued.is_queued) return cuzk::curve::Jacobian<G>::infinity();
    CUZK_TRY(auto sum, msm::collect_product<G>(lane_.compute, queued.plan, queued.product));
    for (std::size_t i = 0; i < queued.bitmap_count; ++i) {
      CUZK_TRY(
          const auto ones,
          msm::collect_bitmap<G>(lane_.compute, queued.bitmaps.subset(i * SumArrays::kBitmapBytes,
                                                                      SumArrays::kBitmapBytes)));
      sum += ones;
    }
    return sum;
  }

  // The query's plan, with room for its sums.
  template <class G>
  base::Result<QueuedSum<G>> plan_sum(QueryId query, const PieceSizes& sizes) {
    static_assert(msm::kBitmapSumBytes<G> <= SumArrays::kBitmapBytes);
    QueuedSum<G> out;
    const int tables = tables_ == nullptr ? 1 : tables_->counts[query];
    if (auto plan = table_plan<G>(sizes.multiply, tables, sizes.multiply_bytes)) {
      out.plan = *plan;
    } else {
      CUZK_TRY(out.plan, multiply_plan<G>(sizes.multiply));
    }
    CUZK_ASSERT(out.plan.sums_bytes <= SumArrays::kProductBytes);
    out.product = sums_.products[query];
    out.bitmaps = sums_.bitmaps[query];
    out.is_queued = true;
    return out;
  }

  // What a multiplication reads: the points of a piece, or of the whole query with its multiples.
  template <class G>
  device::DeviceSpan<const cuzk::curve::Affine<G>> bases(
      QueryId query, const QueuedSum<G>& sum,
      device::DeviceSpan<const cuzk::curve::Affine<G>> piece) const {
    const int count = sum.plan.layout.table_count;
    if (count < 2) return piece;
    CUZK_ASSERT(count == tables_->counts[query] && piece.size == tables_->point_counts[query]);
    return tables_->points_of<G>(query);
  }

  // One piece of a multiplication, cut further where its plan says so; or all of it at once.
  template <class G>
  base::Status queue_terms(const QueuedSum<G>& sum, const msm::Terms<G>& terms,
                           device::DeviceSpan<std::byte> scratch, bool in_parts) {
    if (!in_parts) {
      return msm::queue_product<G>(lane_.compute, sum.plan, terms, scratch, sum.product);
    }
    for (std::size_t first = 0; first < terms.scalars.size; first += sum.plan.part_count_max) {
      const std::size_t count = std::min(sum.plan.part_count_max, terms.scalars.size - first);
      CUZK_TRY_STATUS(
          msm::add_part<G>(lane_.compute, sum.plan, terms.subset(first, count), scratch));
    }
    return base::ok_status();
  }

  bool is_streamed(int query) const {
    return sizes_.queries[query].is_used && !plan_.query_resident[query];
  }

  PieceSource piece_source(int query, const device::DeviceSpan<std::byte> (&blocks)[kBlockCount],
                           std::size_t piece_count) const {
    PieceSource source;
    if (!is_streamed(query) || piece_count == 0) return source;
    source.pass = &circuit_.passes().get(query, plan_.piece_points, piece_count);
    for (int i = 0; i < kBlockCount; ++i) source.blocks[i] = blocks[i];
    source.counter = &StreamedCounter::of(context_.info().index);
    return source;
  }

  // The sums over the queries that follow the witness, in any order: of those that are streamed,
  // one that another proof streams at the time comes first.
  base::Status queue_witness_queries() {
    std::vector<QueryId> left = {kQueryL, kQueryA, kQueryB1, kQueryB2};
    while (!left.empty()) {
      auto chosen = left.begin();
      if (is_streamed(*chosen)) {
        // Who joins a pass must be ready to read: the device has come here.
        CUZK_TRY_STATUS(lane_.compute.synchronize());
        const auto shared = std::find_if(left.begin(), left.end(), [&](QueryId query) {
          return is_streamed(query) && circuit_.passes().is_under_way(query, plan_.piece_points);
        });
        if (shared != left.end()) chosen = shared;
      }
      const QueryId query = *chosen;
      left.erase(chosen);
      if (query == kQueryB2) {
        CUZK_TRY(queued_b_g2_, (queue_query<G2>(query, circuit_.b_g2(), "B query in G2")));
        continue;
      }
      const std::string_view name = query == kQueryL   ? "L query"
                                    : query == kQueryA ? "A query"
                                                       : "B query in G1";
      CUZK_TRY(queued_[query], (queue_query<G1>(query, circuit_.g1(query), name)));
    }
    return base::ok_status();
  }

  base::Result<QueuedSum<G1>> queue_h() {
    const QueryPart& part = circuit_.part().queries[kQueryH];
    if (!part.is_used) return QueuedSum<G1>();
    begin_stage("H query");
    device::Arena arena = arena_;
    const PieceSizes sizes = piece_sizes(sizes_, plan_, kQueryH, scratch_model_);
    const QuotientArrays arrays(arena, sizes_, plan_, sizes);
    const PointStore<G1>& store = circuit_.g1(kQueryH);
    CUZK_TRY(auto sum, plan_sum<G1>(kQueryH, sizes));
    std::vector<typename PieceFeed<G1>::Range> pieces;
    const std::size_t end = part.first_point + part.point_count;
    for (std::size_t first = part.first_point; first < end; first += plan_.piece_points) {
      pieces.push_back({first, std::min<std::size_t>(plan_.piece_points, end - first)});
    }
    // All scalars where they were formed, only those of the part where they arrived.
    const std::size_t first_scalar = sizes_.forms_quotient ? 0 : part.first_point;
    const auto* scalars = reinterpret_cast<const msm::Scalar<G1>*>(quotient_.data);
    const bool are_on_host = sizes_.forms_quotient && plan_.evaluation_buffers == 0;
    const RowEvaluator<C> rows = row_evaluator();
    const bool in_parts = pieces.size() > 1;
    if (is_streamed(kQueryH)) CUZK_TRY_STATUS(lane_.compute.synchronize());
    PieceFeed<G1> feed(lane_, store, piece_source(kQueryH, arrays.points, pieces.size()), pieces);
    if (in_parts) {
      CUZK_TRY_STATUS(msm::begin_parts<G1>(lane_.compute, sum.plan, arrays.scratch));
    }
    while (true) {
      CUZK_TRY(const auto piece, feed.next(inputs_.control.cancel));
      if (!piece) break;
      msm::Terms<G1> terms;
      terms.bases = bases<G1>(kQueryH, sum, piece->points);
      const auto [first, count] = pieces[piece->index];
      if (are_on_host) {
        CUZK_TRY_STATUS(spilled_quotient(rows).bring_scalars(arrays, first, count));
        scalars = reinterpret_cast<const msm::Scalar<G1>*>(arrays.scalars.data);
      }
      terms.scalars = {are_on_host ? scalars : scalars + (first - first_scalar), count};
      CUZK_TRY_STATUS(queue_terms<G1>(sum, terms, arrays.scratch, in_parts));
      CUZK_TRY_STATUS(inputs_.control.check("H query"));
    }
    if (in_parts) {
      CUZK_TRY_STATUS(msm::end_parts<G1>(lane_.compute, sum.plan, arrays.scratch, sum.product));
    }
    CUZK_TRY_STATUS(feed.end());
    CUZK_TRY_STATUS(end_stage("H query"));
    return sum;
  }

  template <class G>
  base::Result<QueuedSum<G>> queue_query(QueryId query, const PointStore<G>& store,
                                         std::string_view name) {
    const QueryPart& part = circuit_.part().queries[query];
    if (!part.is_used) return QueuedSum<G>();
    begin_stage(name);
    device::Arena arena = arena_;
    const PieceSizes sizes = piece_sizes(sizes_, plan_, query, scratch_model_);
    const QueryArrays arrays(arena, sizes);
    CUZK_TRY(auto sum, plan_sum<G>(query, sizes));
    const auto pieces =
        cut_query(circuit_.facts().layouts[query], masks_of(*inputs_.assignment, input_run_),
                  plan_.piece_points, part.words);
    CUZK_ASSERT(pieces.size() * SumArrays::kBitmapBytes <= sum.bitmaps.size);
    std::vector<typename PieceFeed<G>::Range> ranges;
    for (const QueryPiece& piece : pieces) ranges.push_back({piece.first_point, piece.point_count});
    const bool in_parts = sizes.multiply.in_parts;
    CUZK_ASSERT(in_parts == (pieces.size() > 1));
    PieceFeed<G> feed(lane_, store, piece_source(query, arrays.points, pieces.size()), ranges);
    if (in_parts) {
      CUZK_TRY_STATUS(msm::begin_parts<G>(lane_.compute, sum.plan, arrays.multiply_scratch));
    }
    while (true) {
      CUZK_TRY(const auto next, feed.next(inputs_.control.cancel));
      if (!next) break;
      CUZK_TRY_STATUS(
          queue_piece<G>(query, pieces[next->index], next->points, arrays, in_parts, sum));
      CUZK_TRY_STATUS(inputs_.control.check(name));
    }
    if (in_parts) {
      CUZK_TRY_STATUS(
          msm::end_parts<G>(lane_.compute, sum.plan, arrays.multiply_scratch, sum.product));
    }
    CUZK_TRY_STATUS(feed.end());
    CUZK_TRY_STATUS(end_stage(name));
    return sum;
  }

  // The ones by bitmap, then the scalars with the places of their points.
  template <class G>
  base::Status queue_piece(QueryId query, const QueryPiece& piece,
                           device::DeviceSpan<const cuzk::curve::Affine<G>> points,
                           const QueryArrays& arrays, bool in_parts, QueuedSum<G>& sum) {
    const device::Stream& stream = lane_.compute;
    CUZK_TRY_STATUS(device::clear(stream, arrays.bitmap));
    CUZK_TRY_STATUS(device::clear(stream, arrays.pair_count));
    const SelectedPairs pairs{arrays.pair_points.data, arrays.pair_scalars.data,
                              arrays.pair_count.data};
    const RunView<Fr> runs[2] = {input_view(), aux_view()};
    for (int r = 0; r < 2; ++r) {
      const SelectedWords words{circuit_.segment(query, r), piece.words[r].first,
                                piece.words[r].last, static_cast<std::uint32_t>(piece.first_point)};
      CUZK_TRY_STATUS(select_ones<Fr>(stream, runs[r], words, arrays.bitmap.data));
      if (piece.scalar_count == 0) continue;
      CUZK_TRY_STATUS(select_scalars<Fr>(stream, runs[r], words, r == 0 ? kInputsMark : 0, pairs));
    }
    CUZK_TRY_STATUS(msm::queue_bitmap<G>(
        stream, points, {arrays.bitmap.data, arrays.bitmap.size}, arrays.bitmap_scratch,
        sum.bitmaps.subset(sum.bitmap_count * SumArrays::kBitmapBytes, SumArrays::kBitmapBytes)));
    ++sum.bitmap_count;
    const auto count = static_cast<std::uint32_t>(piece.scalar_count);
    auto* values = reinterpret_cast<Fr*>(arrays.values.data);
    CUZK_TRY_STATUS(gather_values<Fr>(stream, pairs, count, witness_.input_scalars.data,
                                      witness_.aux_scalars.data, values));
    msm::Terms<G> terms;
    terms.bases = bases<G>(query, sum, points);
    terms.scalars = {reinterpret_cast<const msm::Scalar<G>*>(values), count};
    terms.indices = {arrays.pair_points.data, count};
    return queue_terms<G>(sum, terms, arrays.multiply_scratch, in_parts);
  }

  const Context& context_;
  Lane& lane_;
  const LoadedCircuit<C>& circuit_;
  const KeyTables* const tables_;  // null: none
  const ProofSizes& sizes_;
  const ProofPlan& plan_;
  const groth16::ProveInputs<C>& inputs_;
  const r1cs::CompactWitness<Fr>& input_run_;
  const bool exact_stages_;
  const Sharing sharing_;
  HostVectors& host_;
  const KernelScratch<C> scratch_model_;
  device::Arena arena_;  // after the witness: each stage takes its arrays from a copy
  WitnessArrays<Fr> witness_;
  SumArrays sums_;
  device::DeviceSpan<std::byte> quotient_;         // scalars of H: where they arrive or were formed
  bool has_top_ = false;                           // whether the degree of h was asked for
  std::array<QueuedSum<G1>, kQueryCount> queued_;  // L, A and B in G1
  QueuedSum<G2> queued_b_g2_;
};

}  // namespace

template <class C>
base::Result<ProofSums<C>> run_proof(const Context& context, Lane& lane,
                                     const LoadedCircuit<C>& circuit, const ProofSizes& sizes,
                                     const ProofPlan& plan, const device::Buffer& workspace,
                                     const groth16::ProveInputs<C>& inputs,
                                     const r1cs::CompactWitness<typename C::Fr>& input_run,
                                     bool exact_stages, const Sharing& sharing) {
  // The workspace, the circuit and its tables, which others may drop, outlive what is queued here.
  // The tables go first: who waits for a workspace counts on them.
  const auto tables = circuit.tables().ready();
  HostVectors host;
  const Drain drain(lane.compute, lane.copy);
  return ProofRun<C>(context, lane, circuit, sizes, plan, workspace, inputs, input_run,
                     exact_stages, sharing, tables.get(), host)
      .run();
}

#define CUZK_CUDA_PROVER(C)                                                                       \
  template struct KernelScratch<C>;                                                               \
  template SharedWork shared_work(const groth16::ProveInputs<C>&,                                 \
                                  const CircuitFacts<typename C::Fr>&,                            \
                                  const r1cs::CompactWitness<typename C::Fr>&, bool);             \
  template ProofSizes proof_sizes(const groth16::ProveInputs<C>&,                                 \
                                  const CircuitFacts<typename C::Fr>&,                            \
                                  const r1cs::CompactWitness<typename C::Fr>&, const ProofPart&); \
  template base::Result<ProofSums<C>> run_proof(                                                  \
      const Context&, Lane&, const LoadedCircuit<C>&, const ProofSizes&, const ProofPlan&,        \
      const device::Buffer&, const groth16::ProveInputs<C>&,                                      \
      const r1cs::CompactWitness<typename C::Fr>&, bool, const Sharing&);
CUZK_CUDA_PROVER(cuzk::curve::Bls12_381)
CUZK_CUDA_PROVER(cuzk::curve::Bn254)
#undef CUZK_CUDA_PROVER

}  // namespace cuzk::cuda::prove
