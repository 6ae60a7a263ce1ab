/**
 * A program that compiles something for the first time, for the `compile-` rows. Arguments: the device, what to compile
 * (compile-work.ts), its size. The line it prints is JSON, in milliseconds: `ours`, what the calling thread was busy with
 * from the graph to everything being sent off; and `engine`, which is not part of it: what the driver, or the WebAssembly
 * engine, took on that thread to make code ready and to run it. Caches on disk are off.
 *
 * Of "shapes" the size is how many shapes: they are the operations, after a first one.
 */
process.env.PUMICE_CACHE = "off";

const { HostKernel } = await import("../src/engines/host/kernel.js");
const { compileWorks } = await import("./compile-work.js");
const { engineOf } = await import("./tensor-work.js");
const { threadMilliseconds } = await import("./thread-time.js");

const [, , device = "cpu", name = "sines", size = "250"] = process.argv;

let engine = 0;

/** Counts the time of a method apart. */
function countApart<K extends string>(owner: Record<K, (...args: never[]) => unknown>, method: K): void {
  const plain = owner[method];
  owner[method] = function (this: unknown, ...args) {
    const start = threadMilliseconds();
    try {
      return plain.apply(this, args);
    } finally {
      engine += threadMilliseconds() - start;
    }
  };
}

// V8 compiles functions of WebAssembly when they are first called.
countApart(HostKernel.prototype, "runAt");
const opened = engineOf(device);
if ("pipeline" in opened) countApart(opened, "pipeline");
else countApart(opened, "kernel");

function timed(work: () => void): { readonly ours: number; readonly engine: number } {
  opened.finishSync();
  const [start, before] = [threadMilliseconds(), engine];
  work();
  return { ours: threadMilliseconds() - start - (engine - before), engine: engine - before };
}

const work = compileWorks[name]!(device, Number(size));
const times = timed(work.run);
opened.finishSync();
process.stdout.write(`${JSON.stringify({ ...times, operations: work.operations() })}\n`);
