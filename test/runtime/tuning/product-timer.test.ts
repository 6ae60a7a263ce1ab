/** Timing of one product: samples by the stopwatch, and tilings that fail or give another result are left out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { allCandidates } from "../../../src/compiler/tiles/candidates.js";
import type { Tiling } from "../../../src/compiler/tiles/product-shape.js";
import { DeviceLostError } from "../../../src/core/errors.js";
import type { Engine, EngineMemory, LoadedKernel, RecordedProgram } from "../../../src/engines/engine.js";
import { parseProduct, plainProduct } from "../../../src/runtime/tuning/plain-product.js";
import { ProductTimer } from "../../../src/runtime/tuning/product-timer.js";
import { backendFor } from "../../../src/tensor/index.js";

type AnyEngine = Engine<EngineMemory, LoadedKernel>;

const backend = backendFor("cpu");
const engine = backend.engine as unknown as AnyEngine;
const shape = parseProduct("test", "48x64x40:f32:nt");
const candidates = allCandidates(shape, backend.target.profile.tiles);

/** A stopwatch by which all work takes as long. */
const stopwatch = (milliseconds: number) => {
  const counts = { timed: 0 };
  const time = (work: () => void) => {
    work();
    counts.timed++;
    return milliseconds;
  };
  return { counts, warmMs: 0, time };
};

/** The engine of the CPU with something else in place of its recorded programs. */
const withPrograms = (
  change: (program: RecordedProgram<EngineMemory>, at: number) => RecordedProgram<EngineMemory>,
) => {
  let recorded = 0;
  return new Proxy(engine, {
    get: (own, name) => {
      if (name === "record") return (program: never) => change(own.record(program), recorded++);
      const value = Reflect.get(own, name, own);
      return typeof value === "function" ? value.bind(own) : value;
    },
  });
};

function timed<T>(
  own: AnyEngine,
  watch: ReturnType<typeof stopwatch>,
  use: (sample: (tiling: Tiling) => number | null) => T,
) {
  const timer = new ProductTimer(own, backend.target, plainProduct(shape, backend), watch);
  try {
    return use((tiling) => timer.sample(tiling));
  } finally {
    timer.dispose();
  }
}

test("a sample is the time of one product: work that takes 20 ms is one run, 1 ms is ten", () => {
  const [tiling] = candidates;
  assert.equal(
    timed(engine, stopwatch(20), (sample) => sample(tiling!)),
    20,
  );
  // Ten runs to a sample of 10 ms; then they take 1 ms together by this stopwatch, so that there are a hundred.
  assert.equal(
    timed(engine, stopwatch(1), (sample) => sample(tiling!)),
    0.01,
  );
});

test("a tiling is compiled and warmed once, however often it is sampled", () => {
  const watch = stopwatch(20);
  timed(engine, watch, (sample) => {
    sample(candidates[0]!);
    const before = watch.counts.timed;
    sample(candidates[0]!);
    assert.equal(watch.counts.timed, before + 1);
  });
});

test("every candidate of a product computes the same, whatever its tile and its parts", () => {
  timed(engine, stopwatch(20), (sample) => {
    for (const tiling of candidates.slice(0, 8)) assert.notEqual(sample(tiling), null);
  });
});

test("a tiling that gives another result is left out", () => {
  const wrong = withPrograms((program, at) => ({
    ...program,
    run: (...given) => {
      const [result] = program.run(...given);
      const bytes = new Uint8Array(result!.byteLength).fill(at === 0 ? 0 : 0x40);
      result!.dispose();
      return [engine.upload(bytes)];
    },
  }));
  const found = timed(wrong, stopwatch(20), (sample) => candidates.slice(0, 2).map(sample));
  assert.deepEqual(found, [20, null]);
});

test("a tile that the device has no kernel for is left out; a lost device ends the search", () => {
  // 256 lanes share a row, which a CPU does not have.
  const extents = { rows: 64, columns: 64, depth: 16, perLane: [4, 4], buffers: 1, unrolled: 16 } as const;
  const none: Tiling = { tile: { kind: "shared", ...extents }, length: shape.k };
  assert.equal(
    timed(engine, stopwatch(20), (sample) => sample(none)),
    null,
  );
  const lost = withPrograms(() => {
    throw new DeviceLostError("gone");
  });
  assert.throws(() => timed(lost, stopwatch(20), (sample) => sample(candidates[0]!)), DeviceLostError);
});
