#!/bin/bash
# The command itself on a machine with NVIDIA cards, from sealing to a daemon's proofs: what the
# device suites, which call the rooms below it, do not see. Every proof is verified by a second
# process without a device. About two minutes.
#
#     bench/cuda/command_trial.sh CUZK OUT [first|bench|daemon|split]...     (default: all)
#
# CUZK is a cuzk built with CUDA; OUT gets every answer. `split` wants two cards. PROOFS (64) is
# how many PoReps the daemon gets at first.
set -uo pipefail

[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
cuzk=$(realpath "$1") out=$2
shift 2
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(first bench daemon split)
root=$(cd "$(dirname "$0")/../.." && pwd)
mul=$root/tests/data/circom/mul1000-bn128
answers=$out/answers proofs=${PROOFS:-64}
mkdir -p "$answers"
failed=()

# step NAME COMMAND...: its answer in OUT/answers/NAME, the time and the last line here.
step() {
  local name=$1 begin status=0
  shift
  begin=$(date +%s%N)
  "$@" >"$answers/$name" 2>"$answers/$name.err" || status=$?
  printf '%-20s %7d ms, status %d: %s\n' "$name" $((($(date +%s%N) - begin) / 1000000)) \
    "$status" "$(cat "$answers/$name" "$answers/$name.err" | tail -n 1 | cut -c1-200)"
  [ $status = 0 ] || failed+=("$name")
}
fact() { sed -n "s/^ *$1 *: *//p" "$answers/$2" | head -n 1; }

verify() {  # PROOF
  "$cuzk" filecoin verify --kind porep --sector-size 2KiB --vk "$out"/params/*replication*.vk \
    --proof "$1" --registered-proof "$(fact number seal)" \
    --comm-r "$(fact 'comm_r (the replica)' seal)" --comm-d "$(fact 'comm_d (the data)' seal)" \
    --miner-id "$(fact miner seal)" --sector 1 --ticket "$(fact ticket seal)" \
    --seed "$(fact seed c1)"
}

first() {
  step devices "$cuzk" devices
  step seal "$cuzk" filecoin seal --sector-size 2KiB --dir "$out/sector" --force
  step c1 "$cuzk" filecoin c1 --dir "$out/sector" --out "$out/c1.json"
  step params "$cuzk" filecoin params --sector-size 2KiB --kind porep --params-dir "$out/params" \
    --force
  for backend in cuda cpu auto; do
    step "prove_$backend" "$cuzk" filecoin prove --c1 "$out/c1.json" --params-dir "$out/params" \
      --out "$out/proof_$backend.bin" --backend "$backend"
    CUDA_VISIBLE_DEVICES="" step "verify_$backend" verify "$out/proof_$backend.bin"
  done
  step prove_1GiB "$cuzk" filecoin prove --c1 "$out/c1.json" --params-dir "$out/params" \
    --out "$out/proof_1GiB.bin" --backend cuda --vram 1GiB
  step verify_1GiB verify "$out/proof_1GiB.bin"
  step circom_prove "$cuzk" prove --zkey "$mul/circuit_final.zkey" --witness "$mul/witness.wtns" \
    --proof "$out/proof.json" --public "$out/public.json" --backend cuda
  step circom_verify "$cuzk" verify --vkey "$mul/verification_key.json" \
    --public "$out/public.json" --proof "$out/proof.json"
  CUDA_VISIBLE_DEVICES="" step no_device_is_a_sentence bash -c \
    '! "$0" prove --zkey "$1/circuit_final.zkey" --witness "$1/witness.wtns" --proof "$2/x.json" \
      --public "$2/y.json" --backend cuda' "$cuzk" "$mul" "$out"
}

bench() {
  step bench_ntt "$cuzk" bench ntt --size-log2 24 --backend cuda
  step bench_msm "$cuzk" bench msm --size-log2 22 --backend cuda
  step bench_msm_g2 "$cuzk" bench msm --size-log2 20 --group g2 --backend cuda
  step bench_prove "$cuzk" bench prove --size-log2 20 --proofs 8 --workers 3 --backend cuda
  step bench_prove_zkey "$cuzk" bench prove --zkey "$mul/circuit_final.zkey" \
    --witness "$mul/witness.wtns" --proofs 20 --workers 4 --backend cuda
}

split() {
  step bench_msm_split "$cuzk" bench msm --size-log2 24 --backend cuda --device 0 --device 1
  step bench_prove_split "$cuzk" bench prove --size-log2 22 --proofs 4 --workers 1 --backend cuda \
    --split
  step bench_prove_both "$cuzk" bench prove --size-log2 22 --proofs 16 --workers 6 --backend cuda
  [ -f "$out/c1.json" ] || first
  start_daemon "[gpus]" $'\n' "share_proofs = true"
  step daemon_shared "$cuzk" submit --c1 "$out/c1.json" --miner-id 1000 --wait \
    --out "$out/daemon_shared.bin"
  step daemon_shared_verify verify "$out/daemon_shared.bin"
  step daemon_shared_load "$cuzk" bench load --job "c1=$out/c1.json,miner-id=1000" \
    --count "$proofs" --concurrency 1
  step daemon_shared_says grep "make each proof together" "$out/daemon.log"
  end_daemon daemon_shared_ends
}

# A daemon with these lines more in its configuration, as process $daemon_id.
start_daemon() {
  cat >"$out/cuzk.toml" <<END
[daemon]
listen = "unix://$out/cuzk.sock"
[journal]
folder = "$out/state"
[srs]
param_cache = "$out/params"
[[circuits]]
name = "mul1000"
zkey = "$mul/circuit_final.zkey"
$*
END
  rm -rf "$out/state"
  export CUZK_ADDR=unix://$out/cuzk.sock
  "$cuzk" daemon --config "$out/cuzk.toml" >"$out/daemon.log" 2>&1 &
  daemon_id=$!
  for _ in $(seq 200); do
    "$cuzk" status >/dev/null 2>&1 && break
    sleep 0.1
  done
}

end_daemon() {  # NAME
  kill -TERM "$daemon_id"
  step "$1" wait "$daemon_id"
}

daemon() {
  [ -f "$out/c1.json" ] || first
  start_daemon
  step daemon_first "$cuzk" submit --c1 "$out/c1.json" --miner-id 1000 --id first --wait \
    --out "$out/daemon_first.bin"
  step daemon_first_verify verify "$out/daemon_first.bin"
  step daemon_poreps "$cuzk" bench load --job "c1=$out/c1.json,miner-id=1000" \
    --count "$proofs" --concurrency 16
  step daemon_mixed "$cuzk" bench load --job "c1=$out/c1.json,miner-id=1000,weight=1" \
    --job "circuit=mul1000,witness=$mul/witness.wtns,weight=9" \
    --count $((proofs * 5)) --concurrency 24
  step daemon_status "$cuzk" status --json
  if command -v curl >/dev/null; then
    step daemon_metrics curl -s --fail http://127.0.0.1:9821/metrics
  fi
  # Whoever crashes, what was accepted is proved.
  step daemon_kill_submit "$cuzk" submit --c1 "$out/c1.json" --miner-id 1000 --id killed
  pkill -9 -P "$daemon_id"
  step daemon_killed "$cuzk" await killed --timeout 2m --out "$out/daemon_killed.bin"
  step daemon_killed_verify verify "$out/daemon_killed.bin"
  end_daemon daemon_ends
}

for part in "${parts[@]}"; do
  case "$part" in
    first | bench | daemon | split) echo "== $part"; "$part" ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
  esac
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
echo "all went well"
