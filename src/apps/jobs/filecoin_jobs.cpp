// The rows of the table of kinds for Filecoin.
//
// The names are stored with jobs in journals: a row may be added, none renamed. Each reader is a
// function of the keys and the bytes; the closures keep the keys alive as long as the table.
#include "apps/jobs/filecoin_jobs.h"

namespace cuzk::apps {

base::Status add_filecoin_jobs(engine::JobTypes& types, std::shared_ptr<FilecoinKeys> keys) {
  CUZK_ASSERT(keys != nullptr);
  CUZK_TRY_STATUS(types.add(
      {"porep", "PoRep of a sealed sector (commit phase 2)",
       [keys](const engine::SharedBytes& input) { return read_porep_job(*keys, input); }}));
  CUZK_TRY_STATUS(types.add(
      {"winning-post", "winning PoSt of one sector", [keys](const engine::SharedBytes& input) {
         return read_post_job(*keys, filecoin::PostKind::kWinning, input);
       }}));
  CUZK_TRY_STATUS(types.add({"window-post", "window PoSt of the sectors of a partition",
                             [keys](const engine::SharedBytes& input) {
                               return read_post_job(*keys, filecoin::PostKind::kWindow, input);
                             }}));
  CUZK_TRY_STATUS(types.add(
      {"update", "update of a sealed sector (SnapDeals)",
       [keys](const engine::SharedBytes& input) { return read_update_job(*keys, input); }}));
  types.add_keys([keys](std::string_view name) { return keys->find(name); });
  return base::ok_status();
}

}  // namespace cuzk::apps
