/**
 * A program that makes the first call of a jitted training step, for the `jit-first` rows. Arguments: the device. The line
 * it prints is JSON, in milliseconds: the call until it returned, the trace and the compilation in it, and until the loss
 * was read.
 */
import { mlpWork } from "./networks.js";
import { engineOf } from "./tensor-work.js";
import { startTraining } from "./training-work.js";

const device = process.argv[2] ?? "cpu";
const training = startTraining(device, mlpWork, 128);
engineOf(device).finishSync();
const start = performance.now();
const loss = training.step();
const call = performance.now() - start;
await loss.item();
const read = performance.now() - start;
const { traceMilliseconds: trace, compileMilliseconds: compile } = training.lower();
process.stdout.write(`${JSON.stringify({ call, trace, compile, loss: read })}\n`);
