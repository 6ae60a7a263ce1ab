/**
 * Programs kept on disk: what is read back runs as what was compiled, to the last bit; whatever is wrong with a file, the
 * program is compiled anew; and neither two processes at once nor one that was killed does any harm.
 */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cachedFiles } from "../../src/cli/cache.js";
import { cacheKinds } from "../../src/engines/disk/cache-folder.js";
import { decodeProgramFile, encodeProgramFile, ProgramCache } from "../../src/engines/disk/program-cache.js";
import { concat, grad, jit, scan, type Tensor, tree, valueAndGrad, whileLoop } from "../../src/index.js";
import type { Backend } from "../../src/runtime/backend.js";
import { explain } from "../../src/tensor/index.js";
import { isOddWord } from "../support/cube-free.js";
import { reopened, tensorOn } from "../support/forced-tiles.js";
import { randomFrom } from "../support/random.js";
import { runNode } from "../support/subprocess.js";
import { testDevices } from "../support/tensors.js";

const root = mkdtempSync(join(tmpdir(), "pumice-programs-"));
after(() => rmSync(root, { recursive: true }));
let folders = 0;
const newFolder = (): string => join(root, String(folders++));
const filesIn = (folder: string): string[] =>
  readdirSync(join(folder, "programs")).map((name) => join(folder, "programs", name));

// -------------------------------------------------------------------------------------------------- programs

/** A second way to use an open device, with a cache of its own. */
const backendWith = (device: string, cache: ProgramCache | null, minRows?: number): Backend =>
  reopened(device, () => (minRows ? { minRows } : {}), cache);

const numbersOf = (backend: Backend, seed: number, ...shape: number[]): Tensor => {
  const random = randomFrom(seed);
  const values = Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => random.below(2048) / 1024 - 1);
  return tensorOn(backend, { shape, values }, "f32");
};

type Made = (backend: Backend) => unknown;
const cases: Readonly<Record<string, Made>> = {
  "a training step with numbers and given-away arguments": (backend) => {
    const loss = (w: { a: Tensor; b: Tensor }, x: Tensor) => x.matmul(w.a).tanh().matmul(w.b).square().mean();
    const step = jit(
      (w: { a: Tensor; b: Tensor }, x: Tensor, rate: Tensor) => {
        const [value, g] = valueAndGrad(loss)(w, x);
        return [tree.map((p: Tensor, d: Tensor) => p.sub(d.mul(rate)), w, g), value] as const;
      },
      { donate: 0 },
    );
    let w = { a: numbersOf(backend, 1, 5, 7), b: numbersOf(backend, 2, 7, 3) };
    const x = numbersOf(backend, 3, 4, 5);
    const losses: Tensor[] = [];
    for (let t = 1; t <= 3; t++) {
      const [next, value] = step(w, x, 0.1 / t) as [typeof w, Tensor];
      w = next;
      losses.push(value);
    }
    return [w, losses];
  },
  "rounds of a loop": (backend) =>
    jit((c: Tensor, x: Tensor) => scan((a: Tensor, b: Tensor) => [a.flip(0).add(b.sort()), a.mul(b)], c, x))(
      numbersOf(backend, 1, 37),
      numbersOf(backend, 2, 5, 37),
    ),
  "a loop until": (backend) =>
    jit((x: Tensor) =>
      whileLoop(
        (c: Tensor) => c.abs().sum().less(100),
        (c: Tensor) => c.sort().mul(2).add(c.flip(0)),
        x,
      ),
    )(numbersOf(backend, 1, 37)),
  "tensors reached by closure": (backend) => {
    const captured = numbersOf(backend, 1, 6);
    return jit((x: Tensor) => x.mul(captured).exp().cumsum({ axis: 0 }))(numbersOf(backend, 2, 4, 6));
  },
  "no elements": (backend) => jit((x: Tensor) => [x.exp(), x.sum({ axis: 0 })])(numbersOf(backend, 1, 0, 3)),
  "more buffers than have their addresses in line": (backend) =>
    jit((...xs: Tensor[]) => concat(xs.map((x, i) => x.mul(i))))(
      ...Array.from({ length: 20 }, (_, i) => numbersOf(backend, i, 3)),
    ),
};

const bytesOf = (result: unknown): number[][] =>
  tree.leaves(result).map((x) => {
    const data = (x as Tensor).dataSync() as Float32Array;
    return [...new Uint8Array(data.buffer, data.byteOffset, data.byteLength)];
  });

for (const device of testDevices()) {
  describe(`programs on disk, ${device}`, () => {
    for (const [title, made] of Object.entries(cases)) {
      test(`${title}: what is read runs as what was compiled`, () => {
        const folder = newFolder();
        const expected = bytesOf(made(backendWith(device, null)));
        const cache = new ProgramCache(folder, undefined, 0);
        const compiling = backendWith(device, cache);
        assert.deepEqual(bytesOf(made(compiling)), expected);
        assert.equal(compiling.counters.loaded, 0);
        cache.save();
        const reading = backendWith(device, new ProgramCache(folder));
        assert.deepEqual(bytesOf(made(reading)), expected);
        assert.deepEqual([reading.counters.compiled, reading.counters.loaded], [0, 1]);
      });
    }

    const sum = (backend: Backend) =>
      bytesOf(jit((x: Tensor) => x.softmax({ axis: 1 }).sum({ axis: 0 }))(numbersOf(backend, 1, 9, 11)));
    const other = (backend: Backend) => bytesOf(jit((x: Tensor) => x.exp())(numbersOf(backend, 1, 9, 11)));

    test("a file that is not what it should be is compiled anew and written again", () => {
      const folder = newFolder();
      const run = (work = sum) => {
        const cache = new ProgramCache(folder, undefined, 0);
        const backend = backendWith(device, cache);
        const result = work(backend);
        cache.save();
        return { result, loaded: backend.counters.loaded };
      };
      const expected = run().result;
      const [path] = filesIn(folder) as [string];
      const good = readFileSync(path);
      run(other);
      const [otherPath] = filesIn(folder).filter((each) => each !== path) as [string];
      const key = good.toString("hex", 16, 48);
      const flipped = (at: number) => good.map((byte, i) => (i === at ? byte ^ 0x40 : byte));
      const damages: Readonly<Record<string, Uint8Array>> = {
        truncated: good.subarray(0, good.length - 7),
        empty: new Uint8Array(),
        "of another format": flipped(8),
        "changed in its description": flipped(200),
        "changed in its code": flipped(good.length - 9),
        "another program": readFileSync(otherPath),
        "nonsense with a good checksum": encodeProgramFile(key, Buffer.from("\x05\0\0\0nonsense")),
        "a description that lacks parts, with a good checksum": encodeProgramFile(key, Buffer.from("\x02\0\0\0{}")),
      };
      for (const [what, bytes] of Object.entries(damages)) {
        writeFileSync(path, bytes);
        assert.deepEqual(run(), { result: expected, loaded: 0 }, what);
        assert.deepEqual(readFileSync(path), good, what);
        assert.deepEqual(run(), { result: expected, loaded: 1 }, what);
      }
    });

    test("a device of another kind has programs of its own", () => {
      const cache = new ProgramCache(newFolder(), undefined, 0);
      const [first, changed] = [backendWith(device, cache), backendWith(device, cache, 7)];
      for (const backend of [first, changed]) {
        sum(backend);
        cache.save();
        assert.deepEqual([backend.counters.compiled, backend.counters.loaded], [1, 0]);
      }
    });

    test("what is given away is part of what a program is for", () => {
      const cache = new ProgramCache(newFolder(), undefined, 0);
      for (const donate of [[], [0], [1]]) {
        const backend = backendWith(device, cache);
        jit((x: Tensor, y: Tensor) => x.add(y), { donate })(numbersOf(backend, 1, 3), numbersOf(backend, 2, 3));
        cache.save();
        assert.deepEqual([backend.counters.compiled, backend.counters.loaded], [1, 0]);
      }
    });

    test("lower says that a program was read", () => {
      const cache = new ProgramCache(newFolder(), undefined, 0);
      const text = () => {
        const backend = backendWith(device, cache);
        const lowered = jit((x: Tensor) => x.exp()).lower(numbersOf(backend, 1, 9));
        cache.save();
        return String(lowered);
      };
      assert.match(text(), /kernels \(compiled in/);
      assert.match(text(), /kernels \(read from disk in [\d.]+ ms\):\n1\. exp\[9\]: 9 rows/);
    });

    /** More operations than are compiled before they are found. */
    const long = (backend: Backend): Tensor => {
      const loss = (x: Tensor) => {
        let y = x;
        for (let i = 0; i < 40; i++) y = y.mul(1 + i / 64).tanh();
        return y.sum();
      };
      return grad(loss)(numbersOf(backend, 1, 50));
    };

    test("a large program of a slice is found wherever the slice begins, but for one that begins between vectors", () => {
      const cache = new ProgramCache(newFolder(), undefined, 0);
      const isStrict = !device.startsWith("cpu");
      const run = (from: number, count: number, from2 = from) => {
        const backend = backendWith(device, cache);
        const x = tensorOn(backend, { shape: [100], values: Array.from({ length: 100 }, (_, i) => i) }, "f32");
        const part = (start: number) => x.at(`${start}:${start + count}`);
        let y = part(from);
        for (let i = 0; i < 60; i++) y = isOddWord(i) ? y.mul(2).div(2).add(1) : y.add(1).mul(2).div(2);
        const values = y.add(part(from2)).dataSync() as Float32Array;
        assert.deepEqual(
          [...values],
          Array.from({ length: count }, (_, i) => from + from2 + 2 * i + 60),
        );
        cache.save();
        return backend.counters.loaded;
      };
      assert.deepEqual([run(4, 40), run(8, 40), run(16, 40)], [0, 1, 1]);
      assert.deepEqual([run(5, 40), run(7, 40)], isStrict ? [0, 1] : [1, 1]);
      // Two that are one are another program, too.
      assert.deepEqual([run(4, 40, 8), run(0, 40, 20), run(12, 40, 12)], [0, 1, 1]);
    });

    test("a large program that takes its numbers as data is found for whichever numbers come", () => {
      const cache = new ProgramCache(newFolder(), undefined, 0);
      const scaled = (backend: Backend, c: number) => {
        let y = numbersOf(backend, 1, 50);
        for (let i = 0; i < 60; i++) y = isOddWord(i) ? y.mul(c).tanh() : y.mul(c).sin();
        return bytesOf(y);
      };
      const compiling = backendWith(device, cache);
      const expected = [1.5, 0.75, 2].map((c) => scaled(compiling, c));
      assert.equal(compiling.counters.compiled, 2);
      cache.save();
      const reading = backendWith(device, cache);
      scaled(reading, 1.5);
      assert.deepEqual([scaled(reading, 2), scaled(reading, 0.75)], [expected[2], expected[1]]);
      assert.deepEqual([reading.counters.compiled, reading.counters.loaded], [0, 2]);
    });

    test("large programs outside jit are kept, too, and explain shows what they compute", () => {
      const cache = new ProgramCache(newFolder(), undefined, 0);
      const compiling = backendWith(device, cache);
      const expected = bytesOf(long(compiling));
      cache.save();
      const reading = backendWith(device, cache);
      assert.deepEqual(bytesOf(long(reading)), expected);
      assert.deepEqual([reading.counters.compiled, reading.counters.loaded], [0, 1]);
      const shown = explain(long(reading), { verbose: true });
      assert.equal(shown, explain(long(compiling), { verbose: true }));
      assert.match(shown, /store/);
    });

    test("small ones outside jit are not looked for", () => {
      const folder = newFolder();
      const cache = new ProgramCache(folder, undefined, 0);
      numbersOf(backendWith(device, cache), 1, 50).exp().dataSync();
      cache.save();
      assert.ok(!existsSync(folder));
    });
  });
}

// -------------------------------------------------------------------------------------------------- processes

/** Prints its result and how it came by its program. */
const program = `
  import { jit, tensor, valueAndGrad } from "SRC/index.js";
  import { backendFor } from "SRC/tensor/devices.js";
  const loss = (w) => w.matmul(w.T).tanh().softmax({ axis: 1 }).log().sum();
  const step = jit((w, rate) => { const [l, g] = valueAndGrad(loss)(w); return [w.sub(g.mul(rate)), l]; });
  const [w, l] = step(tensor([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]]), 0.1);
  const { compiled, loaded } = backendFor().counters;
  console.log(JSON.stringify({ result: [...await w.data(), await l.item()], compiled, loaded }));
`;

interface Told {
  readonly result: readonly number[];
  readonly compiled: number;
  readonly loaded: number;
}

async function tell(env: NodeJS.ProcessEnv, text = program): Promise<Told> {
  const { code, output } = await runNode(text, { env: { PUMICE_DEVICE: "cpu", ...env } });
  assert.equal(code, 0, output);
  return JSON.parse(output);
}

test("a second process reads what the first has compiled, and several at once do not disturb each other", async () => {
  const PUMICE_CACHE = newFolder();
  const first = await Promise.all([1, 2, 3].map(() => tell({ PUMICE_CACHE })));
  const again = await Promise.all([1, 2, 3].map(() => tell({ PUMICE_CACHE })));
  for (const { result } of [...first, ...again]) assert.deepEqual(result, first[0]!.result);
  for (const { compiled, loaded } of again) assert.deepEqual([compiled, loaded], [0, 1]);
  assert.equal(filesIn(PUMICE_CACHE).length, 1);
  const known = cachedFiles(PUMICE_CACHE, cacheKinds).map(({ path }) => path);
  assert.deepEqual(known, filesIn(PUMICE_CACHE), "`pumice cache` knows them");
});

test("what another compiler has compiled is compiled anew", async () => {
  const [PUMICE_CACHE, copy] = [newFolder(), newFolder()];
  const package_ = fileURLToPath(new URL("../../../", import.meta.url));
  const sources = join(copy, "dist", "src");
  cpSync(join(package_, "dist", "src"), sources, { recursive: true });
  cpSync(join(package_, "package.json"), join(copy, "package.json"));
  symlinkSync(join(package_, "node_modules"), join(copy, "node_modules"));
  const there = program.replaceAll("SRC/", `${pathToFileURL(sources).href}/`);
  const first = await tell({ PUMICE_CACHE });
  // The same compiler, elsewhere.
  assert.deepEqual(await tell({ PUMICE_CACHE }, there), { ...first, compiled: 0, loaded: 1 });
  const changed = join(sources, "compiler", "math", "power.js");
  writeFileSync(changed, `${readFileSync(changed, "utf8")}\n`);
  assert.deepEqual(await tell({ PUMICE_CACHE }, there), { ...first, compiled: 1, loaded: 0 });
});

test("PUMICE_CACHE=off keeps nothing", async () => {
  const home = newFolder();
  const { compiled, loaded } = await tell({ PUMICE_CACHE: "off", XDG_CACHE_HOME: home, LOCALAPPDATA: home });
  assert.deepEqual([compiled, loaded], [1, 0]);
  assert.ok(!existsSync(home));
});

test("a process that is killed leaves nothing that another would stumble over", async () => {
  const PUMICE_CACHE = newFolder();
  const env = { PUMICE_DEVICE: "cpu", PUMICE_CACHE };
  const endless = `
    import { programCache } from "SRC/engines/disk/program-cache.js";
    const bytes = new Uint8Array(4 << 20);
    for (let i = 0; ; i++) {
      programCache().keep("ab".repeat(32), () => bytes);
      programCache().save();
      if (i === 0) console.log("writing");
    }`;
  for (const delay of [0, 5, 20]) {
    const { code } = await runNode(endless, {
      env,
      onStart: (child) => child.stdout?.once("data", () => setTimeout(() => child.kill("SIGKILL"), delay)),
    });
    assert.equal(code, "SIGKILL");
    for (const path of filesIn(PUMICE_CACHE)) {
      if (!path.endsWith(".program")) continue;
      const file = readFileSync(path);
      assert.ok(decodeProgramFile(file.toString("hex", 16, 48), file) instanceof Uint8Array, path);
    }
  }
  const { compiled, loaded } = await tell({ PUMICE_CACHE });
  assert.equal(compiled + loaded, 1);
});
