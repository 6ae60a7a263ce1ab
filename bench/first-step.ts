/**
 * A program that makes the first call of a jitted training step, for the `jit-first` rows. Arguments: the device. The line
 * it prints is JSON, in milliseconds: the call until it returned; its parts, which are the trace, looking up the program on
 * disk, reading it from there or compiling it, making its code ready (pipelines on a GPU), and the rest, which is
 * recording and sending off; and until the loss was read.
 */
import { backendFor } from "../src/tensor/index.js";
import { mlpWork } from "./networks.js";
import { engineOf } from "./tensor-work.js";
import { startTraining } from "./training-work.js";

const device = process.argv[2] ?? "cpu";
const training = startTraining(device, mlpWork, 128);
engineOf(device).finishSync();
const before = { ...backendFor(device).times };
const start = performance.now();
const loss = training.step();
const call = performance.now() - start;
await loss.item();
const read = performance.now() - start;
const { traceMilliseconds: trace } = training.lower();
const after = backendFor(device).times;
const took = (part: keyof typeof after) => after[part] - before[part];
const parts = { trace, key: took("key"), read: took("read"), compile: took("compile"), load: took("load") };
const rest = call - Object.values(parts).reduce((sum, ms) => sum + ms, 0);
process.stdout.write(`${JSON.stringify({ call, parts: { ...parts, rest }, loss: read })}\n`);
