/** Where programs come from: what they are found by on disk, which are kept there, and how their time is counted. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { KernelBuilder } from "../../src/compiler/ir/kernel-builder.js";
import { gpuProfile } from "../../src/compiler/target/profile.js";
import type { Target } from "../../src/compiler/target/target.js";
import { ProgramCache } from "../../src/engines/disk/program-cache.js";
import type { CompileSpan } from "../../src/engines/profile.js";
import { exp, neg } from "../../src/graph/primitives/elementwise.js";
import { ProgramSource } from "../../src/runtime/program-source.js";
import { make, stored } from "../support/nodes.js";
import { type NamedKernel, notingEngine } from "../support/noting-engine.js";
import { codelessTarget } from "../support/targets.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-store-"));
after(() => rmSync(folder, { recursive: true }));
let folders = 0;
const newCache = (worthKeepingMs = 0) => new ProgramCache(join(folder, String(folders++)), undefined, worthKeepingMs);

type WantedProgram = Parameters<ProgramSource<NamedKernel>["programOf"]>[0];

function newSource(files: ProgramCache | null, target: Target = codelessTarget()) {
  const { engine, loaded } = notingEngine();
  const counters = { compiled: 0, loaded: 0 };
  return { source: new ProgramSource<NamedKernel>("nowhere", engine, target, files, counters), loaded, counters };
}

/** Written by hand. */
const kernel = (() => {
  const k = new KernelBuilder("ones", 4);
  k.store(k.buffer("f32", true), k.row, k.constant("f32", 1));
  return k.finish();
})();

/** A program of one kernel. */
function wanted(use: string | null = "plain", operation = exp): WantedProgram {
  const leaf = stored(4);
  return { roots: [make(operation, [leaf])], given: [leaf], use, run: "once" };
}

test("a program is found on disk by its graph, its use, the device and the tuning", () => {
  const files = newCache();
  const target = codelessTarget();
  const isFound = (asked: WantedProgram, of: Target = target) => {
    const { source, counters } = newSource(files, of);
    const { isFromDisk } = source.programOf(asked);
    files.save();
    assert.deepEqual(counters, isFromDisk ? { compiled: 0, loaded: 1 } : { compiled: 1, loaded: 0 });
    return isFromDisk;
  };
  assert.equal(isFound(wanted()), false);
  assert.equal(isFound(wanted()), true);
  assert.equal(isFound(wanted(), codelessTarget()), true);
  assert.equal(isFound(wanted("jit")), false);
  assert.equal(isFound(wanted("plain", neg)), false);
  assert.equal(isFound(wanted(), { ...target, identity: "another" }), false);
  assert.equal(isFound(wanted(), { ...target, settings: { division: "refined" } as never }), false);
  assert.equal(isFound(wanted(), codelessTarget({ ...gpuProfile, unroll: 4 })), false);
});

test("a program that was kept is read back, and its kernels are loaded again", () => {
  const files = newCache();
  const first = newSource(files).source.programOf(wanted());
  files.save();
  const second = newSource(files);
  const back = second.source.programOf(wanted());
  assert.deepEqual([first.isFromDisk, back.isFromDisk], [false, true]);
  assert.deepEqual(back.program.made, first.program.made);
  assert.deepEqual(second.loaded, ["exp[4]"]);
});

test("nothing is kept without files, for no use, or where compiling was too fast to be worth it", () => {
  for (const [files, use] of [
    [null, "plain"],
    [newCache(), null],
    [newCache(60_000), "plain"],
  ] as const) {
    const { source, counters } = newSource(files);
    for (let i = 0; i < 2; i++) {
      assert.equal(source.programOf(wanted(use)).isFromDisk, false);
      files?.save();
    }
    assert.deepEqual(counters, { compiled: 2, loaded: 0 });
  }
});

test("a program whose bytes make no sense is compiled again", () => {
  const files = newCache();
  const { find } = files;
  files.find = () => new Uint8Array([255, 255, 255, 255, 1, 2, 3]);
  const { source, counters } = newSource(files);
  assert.equal(source.programOf(wanted()).isFromDisk, false);
  assert.deepEqual(counters, { compiled: 1, loaded: 0 });
  files.find = find;
});

test("memory is planned for a program that runs many times, and donated memory overwritten in a recorded one", () => {
  const planOf = (run: WantedProgram["run"]) => {
    const { plan, inPlace } = newSource(null).source.programOf({ ...wanted(), run });
    return { offsets: plan.offsets.length, inPlace };
  };
  assert.deepEqual(planOf("once"), { offsets: 0, inPlace: [] });
  assert.deepEqual(planOf("stepped"), { offsets: 1, inPlace: [] });
  assert.deepEqual(planOf({ isFixedLeaf: [false], isOnOffer: [false] }), { offsets: 1, inPlace: [-1] });
  assert.deepEqual(planOf({ isFixedLeaf: [false], isOnOffer: [true] }), { offsets: 1, inPlace: [0] });
});

test("compilations are counted, and noted while a profile is open", () => {
  const { source, counters } = newSource(null);
  source.programOf(wanted());
  const noted: CompileSpan[] = [];
  source.watched = noted;
  source.programOf(wanted());
  source.kernelOf(kernel);
  source.watched = null;
  source.programOf(wanted());
  assert.equal(counters.compiled, 4);
  assert.deepEqual(
    noted.map(({ name, by }) => [name, by]),
    [
      ["program 2, 1 kernel", "pumice"],
      ["ones", "pumice"],
    ],
  );
});

test("the time of the engine counts as loading, not as compiling", () => {
  const { engine } = notingEngine();
  const slow = {
    load: (...args: Parameters<typeof engine.load>) => {
      const end = performance.now() + 30;
      while (performance.now() < end);
      return engine.load(...args);
    },
  };
  const source = new ProgramSource<NamedKernel>("nowhere", slow, codelessTarget(), null, { compiled: 0, loaded: 0 });
  const noted: CompileSpan[] = [];
  source.watched = noted;
  source.programOf(wanted());
  const { load, compile } = source.times;
  const [{ start, end, busy = Number.NaN }] = noted as [CompileSpan];
  assert.ok(load >= 30, `loading took ${load} ms`);
  assert.ok(Math.abs(end - start - load - busy) < 1e-6, "what is not loading is busy");
  assert.equal(compile, busy);
});
