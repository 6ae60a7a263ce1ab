/** Compiled programs on disk: what their key depends on, which are kept, and that what is read back is what was kept. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { KernelOutline } from "../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../src/compiler/ir/kernel-builder.js";
import { withSteps } from "../../src/compiler/program/program.js";
import { gpuProfile } from "../../src/compiler/target/profile.js";
import type { Target } from "../../src/compiler/target/target.js";
import { ProgramCache } from "../../src/engines/disk/program-cache.js";
import type { CompileSpan } from "../../src/engines/profile.js";
import { exp, neg } from "../../src/graph/primitives/elementwise.js";
import type { PlannedProgram } from "../../src/runtime/program-file.js";
import { ProgramStore } from "../../src/runtime/program-store.js";
import { make, stored } from "../support/nodes.js";
import { type NamedKernel, notingEngine } from "../support/noting-engine.js";
import { made, value } from "../support/steps.js";
import { codelessTarget } from "../support/targets.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-store-"));
after(() => rmSync(folder, { recursive: true }));
let folders = 0;
const newCache = (worthKeepingMs = 0) => new ProgramCache(join(folder, String(folders++)), undefined, worthKeepingMs);

function newStore(files: ProgramCache | null, target: Target = codelessTarget()) {
  const { engine, loaded } = notingEngine();
  const counters = { compiled: 0, loaded: 0 };
  return { store: new ProgramStore<NamedKernel>(engine, target, files, counters), loaded, counters };
}

const kernel = (() => {
  const k = new KernelBuilder("ones", 4);
  k.store(k.buffer("f32", true), k.row, k.constant("f32", 1));
  return k.finish();
})();
const encoded = { bytes: new Uint8Array([1, 2, 3]), numbers: [4] };

/** A program of one kernel, as `begin` loaded it. */
function planned(code: NamedKernel, outline: KernelOutline = kernel): PlannedProgram<NamedKernel> {
  const step = { kind: "kernel", kernel: outline, code, slots: [made(0)], formula: { text: "out = 1" } } as const;
  const plan = { offsets: [-1], arenaBytes: 0, sumOfBytes: 0 };
  return { program: withSteps({ made: [value(16, 0)], leaves: [] }, [step]), plan, inPlace: [-1], isFromDisk: false };
}

/** Compiles such a program under a key. */
function compileUnder(store: ProgramStore<NamedKernel>, key: string | null): void {
  const { load, finish } = store.begin(key);
  finish(planned(load(encoded, kernel)));
}

test("a key depends on the graph, its use, the device and the tuning; and equal ones have the same", () => {
  const graph = (operation = exp) => {
    const leaf = stored(4);
    return [[make(operation, [leaf])], [leaf]] as const;
  };
  const keyOf = (target: Target, use: string, operation = exp) => {
    const [roots, leaves] = graph(operation);
    return newStore(newCache(), target).store.keyOf(roots, leaves, use);
  };
  const target = codelessTarget();
  const key = keyOf(target, "plain");
  assert.match(String(key), /^[0-9a-f]{64}$/);
  assert.equal(keyOf(codelessTarget(), "plain"), key);
  const others = [
    keyOf(target, "jit"),
    keyOf(target, "plain", neg),
    keyOf({ ...target, identity: "another" }, "plain"),
    keyOf({ ...target, settings: { division: "refined" } as never }, "plain"),
    keyOf(codelessTarget({ ...gpuProfile, unroll: 4 }), "plain"),
  ];
  assert.equal(new Set([key, ...others]).size, 6);
});

test("nothing has a key where nothing is kept", () => {
  const leaf = stored(4);
  assert.equal(newStore(null).store.keyOf([make(exp, [leaf])], [leaf], "plain"), null);
});

const KEY = "ab".repeat(32);

test("a program that was kept is read back, and its kernels are loaded again", () => {
  const files = newCache();
  const first = newStore(files);
  assert.equal(first.store.read(KEY), null);
  compileUnder(first.store, KEY);
  files.save();
  const second = newStore(files);
  const back = second.store.read(KEY);
  assert.equal(back?.isFromDisk, true);
  assert.deepEqual(back?.program.made, [value(16, 0)]);
  assert.deepEqual(second.loaded, ["ones"]);
  assert.equal(second.store.read("cd".repeat(32)), null);
});

test("a program without a key, or one that compiled too fast to be worth it, is not kept", () => {
  for (const [files, key] of [
    [newCache(), null],
    [newCache(60_000), KEY],
  ] as const) {
    const { store, counters } = newStore(files);
    compileUnder(store, key);
    files.save();
    assert.equal(store.read(KEY), null);
    assert.equal(counters.compiled, 1);
  }
});

test("a program whose bytes make no sense counts as not there", () => {
  const files = newCache();
  files.keep(KEY, () => new Uint8Array([255, 255, 255, 255, 1, 2, 3]));
  files.save();
  assert.equal(newStore(files).store.read(KEY), null);
});

test("compilations are counted, and noted while a profile is open", () => {
  const { store, counters } = newStore(null);
  compileUnder(store, null);
  const noted: CompileSpan[] = [];
  store.watched = noted;
  compileUnder(store, null);
  const { load, finishKernel } = store.begin(null);
  load(encoded, kernel);
  finishKernel("by hand");
  store.watched = null;
  compileUnder(store, null);
  assert.equal(counters.compiled, 4);
  assert.deepEqual(
    noted.map(({ name, by }) => [name, by]),
    [
      ["program 2, 1 kernel", "pumice"],
      ["by hand", "pumice"],
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
  const store = new ProgramStore<NamedKernel>(slow, codelessTarget(), null, { compiled: 0, loaded: 0 });
  const noted: CompileSpan[] = [];
  store.watched = noted;
  compileUnder(store, null);
  const { load, compile } = store.times;
  const [{ start, end, busy = Number.NaN }] = noted as [CompileSpan];
  assert.ok(load >= 30, `loading took ${load} ms`);
  assert.ok(Math.abs(end - start - load - busy) < 1e-6, "what is not loading is busy");
  assert.equal(compile, busy);
});
