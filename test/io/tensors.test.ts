/** Tensors through files and back; the formats themselves are tested beside this file. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { DTYPE_NAMES, DTYPES, type DType, isComplex, isPacked, type PackedDType } from "../../src/core/dtype.js";
import {
  ArgumentError,
  arange,
  complex,
  DTypeError,
  FormatError,
  fromBytes,
  io,
  type Tensor,
  tensor,
} from "../../src/index.js";
import { encodeNpy, encodeNpyHeader } from "../../src/io/npy.js";
import { encodeNpz } from "../../src/io/npz.js";
import type { RawTensor } from "../../src/io/raw-tensor.js";
import { randomFrom } from "../support/random.js";
import { describeOnTensorDevices } from "../support/tensors.js";
import { encodeSafetensors } from "./decoding.js";

const folder = mkdtempSync(join(tmpdir(), "pumice-io-"));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

const sample = (dtype: DType, device: string): Tensor =>
  tensor(
    [
      ...[0, 1, 2, 3, 100].map((value) => (value > DTYPES[dtype].max ? 1 : value)),
      isComplex(dtype) ? { re: -1, im: 0.5 } : 1,
    ],
    { dtype, device, shape: [2, 3] },
  ) as Tensor;

describeOnTensorDevices("tensors in files", (device) => {
  test("a device that is not there is told of by the function that was called", async () => {
    await io.saveNpy(at("d.npy"), sample("f32", device));
    await io.saveSafetensors(at("d.safetensors"), { x: sample("f32", device) });
    const nowhere = { device: "vulkan:99" };
    await assert.rejects(io.loadNpy(at("d.npy"), nowhere), /^DeviceError: io.loadNpy: (there is no device|no Vulkan)/);
    await assert.rejects(
      io.loadSafetensors(at("d.safetensors"), nowhere),
      /^DeviceError: io.loadSafetensors: (there is no device|no Vulkan)/,
    );
  });

  for (const dtype of DTYPE_NAMES) {
    test(`${dtype} goes through .npy and comes back`, async () => {
      const x = sample(dtype, device);
      await io.saveNpy(at("x.npy"), x);
      const y = await io.loadNpy(at("x.npy"), { device, dtype: isPacked(dtype) ? dtype : undefined });
      assert.equal(y.dtype, dtype);
      assert.deepEqual(y.shape, [2, 3]);
      assert.deepEqual(await y.data(), await x.data());
    });
  }

  test("computed complex tensors go through .npz and, as c64, through safetensors; c128 is none of its dtypes", async () => {
    const z = complex(tensor([[1, 2, 3]], { device }), tensor([[-1], [0.5]], { device }));
    const want = await z.permute(1, 0).mul(2).array();
    await io.saveNpz(at("z.npz"), { narrow: z.T.mul(2), wide: z.T.cast("c128").mul(2) });
    const { narrow, wide } = await io.loadNpz(at("z.npz"), { device });
    assert.deepEqual([narrow?.dtype, wide?.dtype], ["c64", "c128"]);
    assert.deepEqual([await narrow?.array(), await wide?.array()], [want, want]);
    await io.saveSafetensors(at("z.safetensors"), { z: z.T.mul(2) });
    const loaded = (await io.loadSafetensors(at("z.safetensors"), { device })).z as Tensor;
    assert.equal(loaded.dtype, "c64");
    assert.deepEqual(await loaded.array(), want);
    assert.deepEqual(await loaded.conj().real().array(), await z.T.real().mul(2).array());
    await assert.rejects(io.saveSafetensors(at("z.safetensors"), { z: z.cast("c128") }), /c128/);
  });

  test("named tensors go through .npz, views included", async () => {
    const x = arange(24, undefined, 1, { device }).reshape(2, 3, 4);
    await io.saveNpz(at("x.npz"), { whole: x, part: x.permute(2, 0, 1).at("1:3", "::-1") }, { compress: true });
    const { whole, part } = await io.loadNpz(at("x.npz"), { device });
    assert.deepEqual(await whole?.data(), await x.data());
    assert.deepEqual(part?.shape, [2, 2, 3]);
    assert.deepEqual(await part?.array(), await x.permute(2, 0, 1).at("1:3", "::-1").array());
  });

  test("names that objects have of their own come back, too", async () => {
    const names = ["__proto__", "constructor", "toString", "0"];
    const tensors = Object.fromEntries(names.map((name, i) => [name, tensor([i], { device })]));
    const metadata = Object.fromEntries(names.map((name) => [name, `about ${name}`]));
    await io.saveNpz(at("names.npz"), tensors);
    await io.saveSafetensors(at("names.safetensors"), tensors, metadata);
    const loaded = [
      await io.loadNpz(at("names.npz"), { device }),
      await io.loadSafetensors(at("names.safetensors"), { device }),
    ];
    for (const found of loaded) {
      assert.deepEqual(Object.keys(found).sort(), [...names].sort());
      for (const [i, name] of names.entries()) assert.deepEqual(await found[name]?.array(), [i], name);
    }
    await using file = await io.openSafetensors(at("names.safetensors"), { device });
    assert.deepEqual(file.metadata, metadata);
    assert.deepEqual(await (await file.read("__proto__")).array(), [0]);
  });

  test("any byte but 0 is true in a bool, wherever it comes from", async () => {
    const bytes = Uint8Array.of(0, 1, 2, 0x80, 0xff);
    const bools = fromBytes(bytes, [5], "bool", { device });
    assert.deepEqual([...(await bools.bytes())], [0, 1, 1, 1, 1]);
    assert.deepEqual(await bools.cast("i32").array(), [0, 1, 1, 1, 1]);
    assert.deepEqual(await bools.equal(tensor([true, true, true, true, true], { device })).array(), [
      false,
      true,
      true,
      true,
      true,
    ]);
    assert.deepEqual([...bytes], [0, 1, 2, 0x80, 0xff], "the given bytes are left alone");
    writeFileSync(at("bools.npy"), encodeNpy({ dtype: "bool", shape: [5], bytes }));
    writeFileSync(at("bools.safetensors"), encodeSafetensors([["x", { dtype: "bool", shape: [5], bytes }]]));
    assert.deepEqual(await (await io.loadNpy(at("bools.npy"), { device })).cast("i32").array(), [0, 1, 1, 1, 1]);
    await using file = await io.openSafetensors(at("bools.safetensors"), { device });
    assert.deepEqual(await (await file.slice("x", "1:4")).cast("i32").array(), [1, 1, 1]);
  });

  test("a slice of a safetensors file is what slicing the tensor gives", async () => {
    const x = arange(60, undefined, 1, { device }).reshape(3, 4, 5).mul(0.5);
    await io.saveSafetensors(at("x.safetensors"), { x }, { made: "here" });
    await using file = await io.openSafetensors(at("x.safetensors"), { device });
    assert.deepEqual(file.names, ["x"]);
    assert.deepEqual(file.metadata, { made: "here" });
    assert.deepEqual(await (await file.slice("x", "1:", "::2", -1)).array(), await x.at("1:", "::2", -1).array());
    assert.deepEqual(await (await file.read("x")).data(), await x.data());
  });
});

test("a file that is not what it claims to be is a FormatError", async () => {
  await assert.rejects(io.loadNpy(new URL(import.meta.url).pathname), FormatError);
});

const isUnix = existsSync("/dev/zero") ? false : "needs /dev/zero";

test("a device that has no end is refused by its first bytes", { skip: isUnix }, async () => {
  await assert.rejects(io.loadNpy("/dev/zero"), FormatError);
  await assert.rejects(io.loadNpy("/dev/null"), FormatError);
  await assert.rejects(io.loadNpz("/dev/zero"), {
    name: "FormatError",
    message: "io.loadNpz: /dev/zero cannot be read: it is a device, and only regular files are read.",
  });
  await assert.rejects(io.loadSafetensors("/dev/zero"), FormatError);
});

test("of a pipe without end an array is read, and no more", { skip: isUnix }, async () => {
  await io.saveNpy(at("piped.npy"), tensor([1, 2, 3], { device: "cpu" }));
  execFileSync("mkfifo", [at("pipe")]);
  const writer = spawn("sh", ["-c", `cat '${at("piped.npy")}' /dev/zero > '${at("pipe")}'`], { stdio: "ignore" });
  // Listened for at once: it may be over before the array is read.
  const over = once(writer, "exit");
  const x = await io.loadNpy(at("pipe"), { device: "cpu" });
  assert.deepEqual([...(await x.data())], [1, 2, 3]);
  // Its pipe is closed, which ends it.
  await over;
});

test("a header that claims more than the file holds is refused before there is memory for it", async () => {
  writeFileSync(at("lying.npy"), encodeNpyHeader("f64", [2 ** 40]));
  await assert.rejects(io.loadNpy(at("lying.npy")), {
    name: "FormatError",
    message: /takes 8796093022208 bytes, but 0 follow the header/,
  });
});

test("the remedy for a dtype that is none of ours works as it is written", async () => {
  const header = `{"x":{"dtype":"F8_E8M0","shape":[2],"data_offsets":[0,2]}}`.padEnd(64);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(at("f8.safetensors"), Buffer.concat([length, Buffer.from(header), Buffer.from([3, 4])]));
  await assert.rejects(io.loadSafetensors(at("f8.safetensors")), {
    name: "DTypeError",
    message: /io\.openSafetensors\(path\) gives a file whose readBytes\(name\) gives its bytes/,
  });
  await using file = await io.openSafetensors(at("f8.safetensors"));
  assert.deepEqual([...(await file.readBytes("x"))], [3, 4]);
});

test("an .npz of more than is allowed in all is refused by what it declares", async () => {
  const zeros: RawTensor = { dtype: "u8", shape: [1000], bytes: new Uint8Array(1000) };
  const arrays = [["a", zeros] as const, ["b", zeros] as const];
  writeFileSync(at("large.npz"), encodeNpz(arrays, { compress: true }));
  await assert.rejects(io.loadNpz(at("large.npz"), { maxBytes: 2000, device: "cpu" }), (error) => {
    return (
      error instanceof FormatError && /the archive unpacks to 2256 bytes, more than maxBytes, 2000/.test(error.message)
    );
  });
  assert.deepEqual(Object.keys(await io.loadNpz(at("large.npz"), { maxBytes: 2256, device: "cpu" })), ["a", "b"]);
});

test("options that do not exist are named with the function that was called", async () => {
  const options = { devise: "cpu" } as object;
  for (const name of ["loadNpy", "loadNpz", "openSafetensors", "loadSafetensors"] as const) {
    await assert.rejects(io[name](at("x"), options), (error) => {
      return error instanceof ArgumentError && /^io\.(load|open)\w+: there is no option "devise"/.test(error.message);
    });
  }
  await assert.rejects(io.saveNpz(at("x"), {}, { pack: true } as object), /io\.saveNpz: there is no option "pack"/);
});

test("files changed by chance are loaded or refused with a FormatError", async () => {
  const x: RawTensor = {
    dtype: "f32",
    shape: [2, 3],
    bytes: new Uint8Array(new Float32Array([1, 2, 3, 4, 5, 6]).buffer),
  };
  const y: RawTensor = { dtype: "bool", shape: [3], bytes: Uint8Array.of(0, 1, 1) };
  const both = [["x", x] as const, ["__proto__", y] as const];
  const formats: [string, Uint8Array, (path: string) => Promise<Tensor | Record<string, Tensor>>][] = [
    ["npy", encodeNpy(x), (path) => io.loadNpy(path, { device: "cpu" })],
    ["npz", encodeNpz(both, { compress: true, zip64: "always" }), (path) => io.loadNpz(path, { device: "cpu" })],
    ["safetensors", encodeSafetensors(both, { made: "here" }), (path) => io.loadSafetensors(path, { device: "cpu" })],
  ];
  for (const [format, whole, load] of formats) {
    const outcomes = { loaded: 0, refused: 0 };
    for (let seed = 0; seed < 400; seed++) {
      const random = randomFrom(seed);
      const damaged = whole.slice(0, random.below(8) === 0 ? random.below(whole.length) : whole.length);
      for (let n = 1 + random.below(3); n > 0 && damaged.length > 0; n--)
        damaged[random.below(damaged.length)] = random.below(256);
      writeFileSync(at(`damaged.${format}`), damaged);
      try {
        await load(at(`damaged.${format}`));
        outcomes.loaded++;
      } catch (error) {
        assert.ok(error instanceof FormatError || error instanceof DTypeError, `${format}, seed ${seed}: ${error}`);
        outcomes.refused++;
      }
    }
    assert.ok(outcomes.loaded > 0 && outcomes.refused > 0, `${format}: ${JSON.stringify(outcomes)}`);
  }
});

test("wrong arguments are refused before a file is touched", async () => {
  const loose = (value: unknown): never => value as never;
  const [x, path] = [tensor([1]), at("never")];
  const wrong: readonly [Promise<unknown>, RegExp][] = [
    [io.loadNpy(loose(3)), /^io.loadNpy: the path is a string, not 3/],
    [io.loadNpy(path, loose({ devcie: "cpu" })), /^io.loadNpy: there is no option "devcie"; there are device, dtype/],
    [io.loadNpz(path, loose({ max: 1 })), /^io.loadNpz: there is no option "max"; there are device, maxBytes/],
    [io.loadSafetensors(path, loose("cpu")), /^io.loadSafetensors: "cpu" stands where options do.*\{ device: "cpu" \}/],
    [io.openSafetensors(loose(undefined)), /^io.openSafetensors: the path is a string, not undefined/],
    [io.saveNpy(path, loose([1])), /^io.saveNpy: what is saved is a tensor, not \[1\]/],
    [io.saveNpz(path, loose(x)), /^io.saveNpz: takes tensors by name, as \{ weight: x \}, not a Tensor/],
    [io.saveNpz(path, { x }, loose({ compressed: true })), /^io.saveNpz: there is no option "compressed"/],
    [io.saveSafetensors(path, { x: loose(1) }), /^io.saveSafetensors: "x" is a tensor, not 1/],
  ];
  for (const [use, message] of wrong) await assert.rejects(use, { name: "ArgumentError", message });
  assert.deepEqual(Object.keys(await io.loadNpz(await saved(), { maxBytes: 1e6 })), ["x"]);
});

async function saved(): Promise<string> {
  await io.saveNpz(at("limited.npz"), { x: tensor([1]) });
  return at("limited.npz");
}

describe("narrow dtypes in files", () => {
  const packed: readonly (readonly [PackedDType, readonly number[]])[] = [
    ["i4", [-8, 7, -1, 0, 3]],
    ["u4", [15, 0, 9]],
    ["i2", [-2, 1, -1]],
    ["u2", [3, 0, 2, 1, 3]],
  ];

  test("8-bit floats come back from npy, npz and safetensors", async () => {
    for (const dtype of ["f8e4m3", "f8e5m2"] as const) {
      const x = fromBytes(Uint8Array.of(0x38, 0x81, 0x7b, 0x00), [2, 2], dtype, { device: "cpu" });
      await io.saveNpy(at("f8.npy"), x);
      await io.saveNpz(at("f8.npz"), { x });
      await io.saveSafetensors(at("f8.safetensors"), { x });
      const found = [
        await io.loadNpy(at("f8.npy"), { device: "cpu" }),
        (await io.loadNpz(at("f8.npz"), { device: "cpu" })).x!,
        (await io.loadSafetensors(at("f8.safetensors"), { device: "cpu" })).x!,
      ];
      for (const y of found) {
        assert.equal(y.dtype, dtype);
        assert.deepEqual(await y.bytes(), await x.bytes());
      }
      assert.match(readFileSync(at("f8.safetensors"), "latin1"), dtype === "f8e4m3" ? /"F8_E4M3"/ : /"F8_E5M2"/);
    }
    // What np.save writes for arrays of ml_dtypes: dtype.str is <V1 of float8_e4m3fn and <f1 of float8_e5m2.
    assert.match(readFileSync(at("f8.npy"), "latin1"), /'descr': '<f1'/);
  });

  test("packed integers are one byte each in npy, as ml_dtypes holds them, and need their dtype to be read", async () => {
    for (const [dtype, values] of packed) {
      const x = tensor([...values], { dtype, device: "cpu" });
      await io.saveNpy(at("narrow.npy"), x);
      const file = readFileSync(at("narrow.npy"));
      assert.match(file.toString("latin1"), /'descr': '<V1'/);
      assert.deepEqual(
        [...file.subarray(-values.length)],
        values.map((value) => value & 0xff),
      );
      const y = await io.loadNpy(at("narrow.npy"), { dtype, device: "cpu" });
      assert.deepEqual([y.dtype, ...(await y.data())], [dtype, ...values]);
      assert.equal((await io.loadNpy(at("narrow.npy"), { device: "cpu" })).dtype, "f8e4m3");
    }
  });

  test("a dtype that the file contradicts, and one that a format lacks, are refused with the remedy", async () => {
    await io.saveNpy(at("plain.npy"), tensor([1, 2], { device: "cpu" }));
    await assert.rejects(io.loadNpy(at("plain.npy"), { dtype: "i4" }), /its elements are f32, not i4/);
    const x = tensor([1, 2], { dtype: "i4", device: "cpu" });
    await assert.rejects(
      io.saveSafetensors(at("no.safetensors"), { x }),
      /"x" is i4, which the format lacks; cast it to i8/,
    );
  });
});

test("the event loop turns while large archives are packed and unpacked", async () => {
  const path = at("turning.npz");
  const x = tensor(
    Float32Array.from({ length: 2_000_000 }, (_, i) => Math.sin(i)),
    { device: "cpu" },
  );
  /** The longest time between turns of the event loop while something runs, as a share of all its time. */
  const longestPause = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    let [last, longest, isOver] = [began, 0, false];
    const look = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    await work();
    isOver = true;
    look();
    return longest / (performance.now() - began);
  };
  const packing = await longestPause(() => io.saveNpz(path, { x }, { compress: true }));
  const unpacking = await longestPause(() => io.loadNpz(path, { device: "cpu" }));
  assert.ok(packing < 0.5, `packing: ${packing}`);
  assert.ok(unpacking < 0.6, `unpacking: ${unpacking}`);
  const back = await io.loadNpz(path, { device: "cpu" });
  assert.ok(await back.x!.equal(x).all().item());
  const bytes = readFileSync(path);
  bytes[bytes.length >> 1]! ^= 0xff;
  writeFileSync(path, bytes);
  await assert.rejects(io.loadNpz(path, { device: "cpu" }), (error) => error instanceof FormatError);
});
