// Drives a daemon as a client that shares no code with it: @grpc/grpc-js with a proto file that is
// named on the command line, ours or anybody's. Says what is wrong and exits 1, or prints what it
// saw as JSON and exits 0.
//
//     node grpc_client.mjs SPEC.json
//
// SPEC: modules (folder with @grpc), proto, target, scenario and what it takes; where wanted
// jobs_proto, token, tls_ca, tls_cert and tls_key. Strings under `bytes` are files; `c1` is a file
// with the output of commit phase 1, which is wrapped as Curio does.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import assert from "node:assert/strict";

const spec = JSON.parse(readFileSync(process.argv[2], "utf8"));
const require = createRequire(join(spec.modules, "anchor.js"));
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const LIMIT = 256 << 20; // as the public client sets it
const OPTIONS = {
  "grpc.max_receive_message_length": LIMIT,
  "grpc.max_send_message_length": LIMIT,
};
const STYLE = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };

function load(path) {
  return grpc.loadPackageDefinition(loader.loadSync(path, STYLE));
}

function credentials() {
  if (!spec.tls_ca) return grpc.credentials.createInsecure();
  const read = (path) => (path ? readFileSync(path) : null);
  return grpc.credentials.createSsl(read(spec.tls_ca), read(spec.tls_key), read(spec.tls_cert));
}

function metadata() {
  const values = new grpc.Metadata();
  if (spec.token) values.set("authorization", `Bearer ${spec.token}`);
  return values;
}

// A unary call as a promise; a refusal is an Error with code and details.
function call(client, method, request, deadlineMs = 120_000) {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + deadlineMs };
    client[method](request, metadata(), options, (error, reply) =>
      error ? reject(error) : resolve(reply),
    );
  });
}

async function refusal(client, method, request) {
  try {
    await call(client, method, request);
  } catch (error) {
    return error;
  }
  throw new Error(`${method} was not refused`);
}

// The request of the spec with its files read.
function requestOf(described) {
  const request = { ...described.fields };
  for (const [name, paths] of Object.entries(described.bytes)) {
    request[name] = Array.isArray(paths)
      ? paths.map((path) => readFileSync(path))
      : readFileSync(paths);
  }
  if (described.c1) {
    // What json.Marshal of Curio's C1OutputWrapper writes.
    const wrapped = {
      SectorNum: request.sector_number,
      Phase1Out: readFileSync(described.c1).toString("base64"),
      SectorSize: request.sector_size,
    };
    request.vanilla_proof = Buffer.from(JSON.stringify(wrapped));
  }
  return request;
}

async function submitAwaitProve(engine, request, seen) {
  const id = request.request_id;
  const submitted = await call(engine, "SubmitProof", request);
  assert.equal(submitted.job_id, id);
  assert.equal((await call(engine, "SubmitProof", request)).job_id, id, "the same joins");
  const other = await refusal(engine, "SubmitProof", {
    ...request,
    miner_id: Number(request.miner_id) + 1,
  });
  assert.equal(other.code, grpc.status.ALREADY_EXISTS, other.message);

  const first = await call(engine, "AwaitProof", { job_id: id, timeout_ms: 0 }, 900_000);
  assert.equal(first.status, "COMPLETED", first.error_message);
  assert.equal(first.job_id, id);
  assert.equal(first.error_message, "");
  assert.equal(first.proof.length % 192, 0);
  assert.ok(Number(first.total_ms) > 0, "total_ms");
  const again = await call(engine, "AwaitProof", { job_id: id, timeout_ms: 1000 });
  assert.deepEqual(again.proof, first.proof, "the same bytes again");
  const proved = await call(engine, "Prove", { submit: request });
  assert.equal(proved.result.status, "COMPLETED");
  assert.deepEqual(proved.result.proof, first.proof, "Prove joins the job");
  seen.proof_bytes = first.proof.length;
  seen.times = { total_ms: first.total_ms, synthesis_ms: first.synthesis_ms };
  return first.proof;
}

async function timeoutAndCancel(engine, request) {
  const id = `${request.request_id}-second`;
  await call(engine, "SubmitProof", { ...request, request_id: id });
  const early = await call(engine, "AwaitProof", { job_id: id, timeout_ms: 1 });
  assert.ok(["TIMEOUT", "COMPLETED"].includes(early.status), early.status);
  const cancelled = await call(engine, "CancelProof", { job_id: id });
  assert.equal(typeof cancelled.was_running, "boolean");
  const end = await call(engine, "AwaitProof", { job_id: id, timeout_ms: 0 });
  assert.ok(["CANCELLED", "COMPLETED"].includes(end.status), end.status);
  assert.equal((await call(engine, "CancelProof", { job_id: id })).was_running, false);
  const unknown = await refusal(engine, "CancelProof", { job_id: "nobody's" });
  assert.equal(unknown.code, grpc.status.NOT_FOUND, unknown.message);
  return end.status;
}

// A job that was cancelled may hold its key until its chunk of work is over.
async function evict(engine, name) {
  for (let left = 300; ; --left) {
    try {
      return await call(engine, "EvictSRS", { circuit_id: name });
    } catch (error) {
      if (error.code !== grpc.status.UNAVAILABLE || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function keys(engine, name, seen) {
  const before = await call(engine, "PreloadSRS", { circuit_id: name }, 600_000);
  assert.equal(before.already_loaded, true, "the job has loaded it");
  const evicted = await evict(engine, name);
  assert.equal(evicted.was_loaded, true);
  assert.ok(Number(evicted.freed_bytes) > 0);
  const cold = await call(engine, "EvictSRS", { circuit_id: name });
  assert.equal(cold.was_loaded, false);
  const loaded = await call(engine, "PreloadSRS", { circuit_id: name }, 600_000);
  assert.equal(loaded.already_loaded, false);
  const unknown = await refusal(engine, "PreloadSRS", { circuit_id: "porep-9t" });
  assert.equal(unknown.code, grpc.status.NOT_FOUND, unknown.message);
  seen.freed_bytes = evicted.freed_bytes;
}

async function status(engine, name, before, seen) {
  const reply = await call(engine, "GetStatus", {});
  const proved = 1 + (seen.second === "COMPLETED" ? 1 : 0);
  assert.equal(
    Number(reply.total_proofs_completed) - Number(before.total_proofs_completed), proved);
  assert.equal(reply.total_proofs_failed, "0");
  assert.ok(Number(reply.uptime_seconds) >= Number(before.uptime_seconds));
  const key = reply.loaded_srs.find((row) => row.circuit_id === name);
  assert.ok(key, `no ${name} among ${JSON.stringify(reply.loaded_srs)}`);
  assert.ok(["HOT", "WARM"].includes(key.tier), key.tier);
  assert.ok(Number(key.size_bytes) > 0);
  const busy = reply.queues.reduce((sum, row) => sum + row.pending + row.in_progress, 0);
  assert.equal(busy, 0, "what the public client compares with its limit");
  const { prometheus_text: text } = await call(engine, "GetMetrics", {});
  assert.match(text, /^# TYPE cuzk_\w+ counter$/m);
  const total = [...text.matchAll(/^cuzk_proofs_completed_total\{.*\} (\d+)$/gm)]
    .reduce((sum, row) => sum + Number(row[1]), 0);
  assert.equal(String(total), reply.total_proofs_completed, "metrics and status agree");
  seen.queues = reply.queues.map((row) => row.proof_kind);
}

async function refusals(engine, request) {
  const cases = [
    [{ ...request, request_id: "r1", proof_kind: 0 }, grpc.status.INVALID_ARGUMENT],
    [{ ...request, request_id: "r2", proof_kind: 9 }, grpc.status.INVALID_ARGUMENT],
    [{ ...request, request_id: "r3", priority: 9 }, grpc.status.INVALID_ARGUMENT],
    [{ ...request, request_id: "r4", sector_size: 3 }, grpc.status.INVALID_ARGUMENT],
    [{ ...request, request_id: "r5", vanilla_proof: Buffer.alloc(0), vanilla_proofs: [] },
      grpc.status.INVALID_ARGUMENT],
    [{ ...request, request_id: "bad\u0001id" }, grpc.status.INVALID_ARGUMENT],
  ];
  const good = request.vanilla_proof?.length > 0 ? request.vanilla_proof : null;
  const hostile = [
    Buffer.from("not JSON"), Buffer.from("[".repeat(100_000)), Buffer.alloc(1000),
    Buffer.from('{"a":'.repeat(100_000)), Buffer.from('{"SectorNum":1}'),
    Buffer.from('{"SectorNum":1,"Phase1Out":"***","SectorSize":2048}'),
    Buffer.alloc(200 << 20, "["),
    ...(good ? [good.subarray(0, good.length - 1), Buffer.concat([good, good])] : []),
  ];
  hostile.forEach((vanilla_proof, index) => cases.push([
    { ...request, request_id: `h${index}`, proof_kind: "POREP_SEAL_COMMIT", registered_proof: 5,
      vanilla_proof, vanilla_proofs: [] },
    grpc.status.INVALID_ARGUMENT]));
  for (const [bad, code] of cases) {
    const error = await refusal(engine, "SubmitProof", bad);
    assert.equal(error.code, code, `${bad.request_id}: ${error.message}`);
    assert.ok(error.details.length > 10, `${bad.request_id}: a sentence`);
  }
  const nothing = await refusal(engine, "Prove", {});
  assert.equal(nothing.code, grpc.status.INVALID_ARGUMENT, nothing.message);
}

// All eight calls of the public interface.
async function everything(engine) {
  const seen = {};
  const request = requestOf(spec.request);
  const before = await call(engine, "GetStatus", {});
  const proof = await submitAwaitProve(engine, request, seen);
  writeFileSync(spec.proof_out, proof);
  seen.second = await timeoutAndCancel(engine, request);
  await status(engine, spec.key, before, seen);
  await keys(engine, spec.key, seen);
  await refusals(engine, request);
  return seen;
}

// What another transport has to show: a job that is done is found, with the same bytes.
async function look(engine) {
  const ended = await call(engine, "AwaitProof", { job_id: spec.job_id, timeout_ms: 5000 });
  assert.equal(ended.status, "COMPLETED");
  assert.deepEqual(ended.proof, readFileSync(spec.proof_out));
  const reply = await call(engine, "GetStatus", {});
  return { uptime_seconds: reply.uptime_seconds };
}

// A call that has to be refused, with the code of the spec.
async function refused(engine) {
  const error = await refusal(engine, "GetStatus", {});
  assert.equal(grpc.status[error.code], spec.code, error.message);
  return { details: error.details };
}

// A registered circuit, the witness in one message and in pieces.
async function circuit(_, jobs) {
  const witness = readFileSync(spec.witness);
  const one = await call(jobs, "SubmitCircuitJob", {
    request_id: "circuit one", circuit: spec.circuit, witness,
  });
  assert.equal(one.job_id, "circuit one");
  const two = await new Promise((resolve, reject) => {
    const stream = jobs.StreamCircuitJob(metadata(), (error, reply) =>
      error ? reject(error) : resolve(reply),
    );
    const header = { request_id: "circuit two", circuit: spec.circuit,
      witness_bytes: witness.length };
    stream.write({ header });
    for (let at = 0; at < witness.length; at += 10_000) {
      stream.write({ witness: witness.subarray(at, at + 10_000) });
    }
    stream.end();
  });
  assert.equal(two.job_id, "circuit two");
  const results = [];
  for (const id of ["circuit one", "circuit two"]) {
    const end = await call(jobs, "AwaitJob", { job_id: id, timeout_ms: 60_000 });
    assert.equal(end.job.state, "COMPLETED", end.job.error_message);
    results.push(JSON.parse(end.result.toString("utf8")));
  }
  assert.deepEqual(results[0].public, results[1].public);
  writeFileSync(spec.result_out, JSON.stringify(results[0]));
  const list = await call(jobs, "ListJobs", { kind: "circom", page_size: 1 });
  assert.equal(list.jobs.length, 1);
  assert.notEqual(list.next_after_sequence, "0");
  const error = await refusal(jobs, "SubmitCircuitJob", { circuit: "nobody's", witness });
  assert.equal(error.code, grpc.status.NOT_FOUND, error.message);
  return { jobs: list.jobs.map((job) => job.job_id) };
}

const SCENARIOS = { everything, look, refused, circuit };

async function main() {
  const Engine = load(spec.proto).cuzk.v1.ProvingEngine;
  const engine = new Engine(spec.target, credentials(), OPTIONS);
  let jobs = null;
  if (spec.jobs_proto) {
    const Jobs = load(spec.jobs_proto).cuzk.jobs.v1.JobService;
    jobs = new Jobs(spec.target, credentials(), OPTIONS);
  }
  const seen = await SCENARIOS[spec.scenario](engine, jobs);
  console.log(JSON.stringify(seen));
  engine.close();
  jobs?.close();
}

main().catch((error) => {
  console.error(error.stack ?? String(error));
  process.exit(1);
});
