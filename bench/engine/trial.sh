#!/bin/bash
# What the engine must show, in one go on an idle machine, with a verdict for each demand: the
# grid of budgets and workers, the soak, critical jobs under load, kills with stand-in work and
# with real proofs. About half an hour on two cores. Results stay in OUT as JSON.
#
#     bench/engine/trial.sh BUILD_FOLDER OUT [grid|soak|critical|kills]...     (default: all)
#
# CUZK_TRIAL_JOBS, _SOAK and _KILLS make it smaller; CUZK_TRIAL_KEYS is where keys are kept.
set -uo pipefail

[ $# -ge 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1 out=$2
shift 2
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(grid soak critical kills)
keys="${CUZK_TRIAL_KEYS:-$out/keys}"
kills="${CUZK_TRIAL_KILLS:-200}"
mkdir -p "$out" "$keys"

bench() {  # NAME FLAGS...
  local name=$1
  shift
  echo "== $name: cuzk bench engine $*" >&2
  "$build/cuzk" bench engine "$@" --dir "$keys" --json >"$out/$name.json"
}

kill_test() {  # NAME BINARY TEST
  echo "== $1: $3, $kills kills" >&2
  CUZK_KILLS=$kills "$build/$2" --gtest_filter="$3" --gtest_output="json:$out/$1.json" \
    >"$out/$1.log"
}

for part in "${parts[@]}"; do
  case "$part" in
    grid) bench grid --grid --jobs "${CUZK_TRIAL_JOBS:-203}" --porep 3 --j 8 ;;
    soak) bench soak --soak "${CUZK_TRIAL_SOAK:-10000}" --pw 2 --gw 2 --gt 1 --j 8 ;;
    critical) bench critical --critical --pw 2 --gw 2 --gt 1 --j 8 ;;
    kills)
      kill_test kills_stand_in engine_test EngineKill.NothingIsLostAndNothingIsAnsweredWrongly
      kill_test kills_proofs jobs_test EngineKillReal.LosesNothingAndAnswersNothingWrongly
      ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
  esac
done
exec python3 "$(dirname "$0")/trial_verdict.py" "$out" "${parts[@]}"
