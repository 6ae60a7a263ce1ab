/** A thread of summary-threads.ts: summarises the scalars it is sent, one at a time. */
import { workerData } from "node:worker_threads";
import { summarizeScalar } from "./scalar-summary.js";
import { type ScoringMemory, scoringMemory } from "./scores.js";
import { IDLE, type SummaryRequest, type WorkerSetting } from "./summary-threads.js";

const { state, port } = workerData as WorkerSetting;
let memory: ScoringMemory | undefined;

port.on("message", ({ name, x, superchains }: SummaryRequest) => {
  memory ??= scoringMemory(x);
  port.postMessage(summarizeScalar(name, x, superchains, memory));
  Atomics.store(state, 0, IDLE);
  Atomics.notify(state, 0);
});
Atomics.store(state, 0, IDLE);
