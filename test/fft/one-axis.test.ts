/**
 * Fourier transforms along one axis: every length to 600 and some long ones against the definition in f64, SciPy's values,
 * and the laws that transforms obey. PUMICE_ALL_LENGTHS=1 tries every length on every device.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { complex, fft, grad, jit, random, type Tensor, tensor, vmap } from "../../src/index.js";
import { type ComplexList, dftAt, dftByDefinition } from "../support/dft-oracle.js";
import { randomFrom } from "../support/random.js";
import { assertNear, type PackedArray, readCases, tensorOf } from "../support/scipy-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../support/tensors.js";

const isThorough = process.env.PUMICE_ALL_LENGTHS === "1";

/** Numbers of f32 between -1 and 1. */
function sample(n: number, seed: number): ComplexList {
  const numbers = randomFrom(seed);
  const line = () => Float64Array.from({ length: n }, () => numbers.below(2 ** 20) / 2 ** 19 - 1);
  return { re: line(), im: line() };
}

const asComplex = ({ re, im }: ComplexList, dtype: "f32" | "f64", shape: readonly number[]): Tensor =>
  complex(tensor([...re], { dtype, shape }), tensor([...im], { dtype, shape }));

/** The relative distance in the mean of squares. */
function distance(found: ArrayLike<number>, wanted: ComplexList, count = wanted.re.length): number {
  let [off, size] = [0, 0];
  for (let k = 0; k < count; k++) {
    off += (found[2 * k]! - wanted.re[k]!) ** 2 + (found[2 * k + 1]! - wanted.im[k]!) ** 2;
    size += wanted.re[k]! ** 2 + wanted.im[k]! ** 2;
  }
  return Math.sqrt(off / size);
}

/** A small multiple of ε·log n; convolutions with a chirp are three transforms of twice the length. */
const bound = (n: number, dtype: "f32" | "f64"): number =>
  (dtype === "f32" ? 2 ** -24 : 2 ** -53) * (2 + (dtype === "f32" ? 1 : 4) * Math.log2(n + 1));

function checkLength(n: number, dtype: "f32" | "f64"): void {
  const x = sample(n, n);
  const found = fft.fft(asComplex(x, dtype, [n])).dataSync() as Float64Array;
  assert.ok(distance(found, dftByDefinition(x, -1)) < bound(n, dtype), `fft of ${n}`);
}

/** The other direction and other forms. */
function checkForms(n: number, dtype: "f32" | "f64"): void {
  const x = sample(n, n);
  // Two lines, so that lanes and columns have neighbours.
  const columns = fft.ifft(asComplex({ re: twice(x.re), im: twice(x.im) }, dtype, [n, 2]), {
    axis: 0,
    norm: "forward",
  });
  const real = { re: x.re, im: new Float64Array(n) };
  const half = fft.rfft(tensor([...x.re], { dtype }));
  const back = fft.irfft(half, { n });
  const limit = bound(n, dtype);
  const inverse = columns.at(":", 1).dataSync() as Float64Array;
  assert.ok(distance(inverse, dftByDefinition(x, 1)) < limit, `ifft of ${n} along columns`);
  const spectrum = dftByDefinition(real, -1);
  assert.ok(distance(half.dataSync() as Float64Array, spectrum, Math.floor(n / 2) + 1) < 1.5 * limit, `rfft of ${n}`);
  const again = back.dataSync() as Float64Array;
  const off = Math.sqrt(x.re.reduce((sum, value, i) => sum + (value - again[i]!) ** 2, 0));
  assert.ok(off < 3 * limit * Math.sqrt(x.re.reduce((sum, value) => sum + value ** 2, 0)), `irfft of ${n}`);
}

const twice = (x: Float64Array): Float64Array => Float64Array.from({ length: 2 * x.length }, (_, i) => x[i >> 1]!);

/** Every kind of length: small, powers, products of all small primes, primes, limits of rows. */
const CHOSEN = [1, 2, 3, 4, 9, 13, 17, 30, 64, 143, 256, 599, 600];
/** Those that a software driver compiles in a few seconds. */
const FEW = [2, 15, 17, 64, 143];

describeOnTensorDevices("every length", (device) => {
  const every = Array.from({ length: 600 }, (_, i) => i + 1);
  const lengths = isThorough || device === "cpu" ? every : FEW;
  const forms = isThorough ? every : device === "cpu" ? CHOSEN : FEW;
  test(`f32, ${lengths.length} of them`, () => {
    for (const n of lengths) checkLength(n, "f32");
    for (const n of forms) checkForms(n, "f32");
  });
  if (devicesWithDoubles().includes(device)) {
    test("f64", () => {
      for (const n of isThorough ? every : device === "cpu" ? CHOSEN : [12, 19]) {
        checkLength(n, "f64");
        checkForms(n, "f64");
      }
    });
  }

  test("long ones, in several passes", () => {
    const long = device === "cpu" ? [4096, 4099, 5000, 8192, 13 * 2 ** 10, 65536, 65537, 2 ** 20, 2 ** 22] : [5000];
    for (const n of long) {
      const x = sample(n, 7);
      const z = asComplex(x, "f32", [n]);
      const found = fft.fft(z).dataSync() as Float32Array;
      const places = Array.from({ length: 6 }, (_, i) => Math.floor((n * (i * i + 1)) / 37));
      const wanted = places.map((k) => dftAt(x, k, -1));
      const off = places.map((k, i) => Math.hypot(found[2 * k]! - wanted[i]!.re, found[2 * k + 1]! - wanted[i]!.im));
      assert.ok(Math.max(...off) < 4 * bound(n, "f32") * Math.sqrt(n), `fft of ${n}: ${off}`);
      const back = fft.ifft(fft.fft(z));
      const rest = back.sub(z).abs().max().itemSync() as number;
      assert.ok(rest < 20 * bound(n, "f32"), `ifft of ${n}: ${rest}`);
    }
  });

  test("lines along every axis", () => {
    const x = random.normal(random.key(3), [4, 6, 8]);
    for (const axis of [0, 1, 2]) {
      const found = fft.fft(x, { axis });
      const line = fft.fft(x.moveAxis(axis, -1)).moveAxis(-1, axis);
      assert.ok((found.sub(line).abs().max().itemSync() as number) < 1e-5, `axis ${axis}`);
    }
  });

  test("the laws: Parseval, shifts, convolution, linearity of jit and vmap", () => {
    const n = 60;
    const x = asComplex(sample(n, 1), "f32", [n]);
    const y = asComplex(sample(n, 2), "f32", [n]);
    const near = (a: Tensor, b: Tensor, by: number, what: string) =>
      assert.ok((a.sub(b).abs().max().itemSync() as number) < by, what);
    const energy = (z: Tensor) => z.abs().square().sum().itemSync() as number;
    assert.ok(Math.abs(energy(fft.fft(x, { norm: "ortho" })) / energy(x) - 1) < 1e-5, "Parseval");
    const turn = fft.fftfreq(n).mul(-2 * Math.PI * 5);
    near(fft.fft(x.roll(5)), fft.fft(x).mul(complex(turn.cos(), turn.sin())), 1e-4, "a shift turns");
    const product = fft.ifft(fft.fft(x).mul(fft.fft(y)));
    const sum = Array.from({ length: 4 }, (_, k) => x.mul(y.flip().roll(k + 1)).sum());
    sum.forEach((each, k) => {
      near(product.at(k), each, 1e-3, "a product is a convolution");
    });
    near(jit((z: Tensor) => fft.fft(z))(x), fft.fft(x), 1e-6, "jit");
    const rows = asComplex(sample(4 * n, 3), "f32", [4, n]);
    near(vmap((z: Tensor) => fft.fft(z))(rows), fft.fft(rows), 1e-6, "vmap");
  });

  test("a gradient passes through a transform inside a jitted step", () => {
    const step = jit(grad((x: Tensor) => fft.rfft(x.tanh()).abs().square().sum()));
    const x = random.normal(random.key(1), [24]);
    const by = x.tanh();
    // Σ over the half spectrum of |X|²: all of Parseval's but for the mirrored numbers.
    const turning = tensor(altering(24));
    const whole = by.mul(24).add(by.sum()).add(by.mul(turning).sum().mul(turning));
    const wanted = whole.mul(by.square().neg().add(1));
    assert.ok((step(x).sub(wanted).abs().max().itemSync() as number) < 1e-3);
  });
});

const altering = (n: number): number[] => Array.from({ length: n }, (_, i) => (i % 2 === 0 ? 1 : -1));

interface Case {
  readonly name: keyof typeof fft;
  readonly x?: PackedArray;
  readonly n?: number;
  readonly options: object;
  readonly y: PackedArray;
}

describeOnTensorDevices("SciPy's values", (device) => {
  const cases = readCases<Case>("fft");
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  for (const name of [...new Set(cases.map((each) => each.name))]) {
    test(name, () => {
      for (const each of cases.filter((other) => other.name === name)) {
        const call = fft[name] as unknown as (x: Tensor | number, options: object) => Tensor;
        const found = each.x ? call(tensorOf(each.x, dtype), each.options) : call(each.n!, { ...each.options, dtype });
        assertNear(found, each.y, dtype === "f64" ? 1e-11 : 1e-5, `${name} ${JSON.stringify(each.options)}`);
      }
    });
  }
});

describe("arguments of transforms", () => {
  const x = tensor([1, 2, 3], { device: "cpu" });
  const throws = (f: () => unknown, message: RegExp) => assert.throws(f, { message });
  test("what is wrong is named, with the remedy", () => {
    throws(() => fft.fft(x, { n: 0 }), /^fft\.fft: the option n is a whole number from 1 on/);
    throws(() => fft.fft(x, { axis: 1 }), /^fft\.fft: axis 1 is out of range/);
    throws(() => fft.fft(x, { norm: "both" as "ortho" }), /^fft\.fft: the option norm is "both"/);
    throws(() => fft.rfft(fft.fft(x)), /^fft\.rfft: takes real numbers, not c64/);
    throws(() => fft.fft(tensor(1, { device: "cpu" })), /^fft\.fft: a scalar has no axis/);
    throws(() => fft.irfft(tensor([1], { device: "cpu" })), /^fft\.irfft: .* would have 0 elements; give n/);
    throws(() => fft.fftn(x, { s: [2, 2] }), /^fft\.fftn: 2 lengths for a tensor of 1 axes/);
    throws(
      () => fft.fftn(x, { axes: [0, -1] }),
      /^fft\.fftn: axes \[0, -1\] name axis 0 of 1 twice; name each axis once/,
    );
    throws(() => fft.fft2(x), /^fft\.fft2: axis -2 is out of range/);
    throws(() => fft.dct(tensor([1], { device: "cpu" }), { type: 1 }), /^fft\.dct: type 1 takes 2 elements or more/);
    throws(() => fft.dct(x, { type: 5 as 4 }), /^fft\.dct: the option type is/);
  });

  test("integers and narrow floats become f32, doubles stay", () => {
    const dtypeOf = (dtype: "i32" | "f16" | "bf16" | "f64" | "bool") => fft.fft(x.cast(dtype)).dtype;
    assert.deepEqual(["i32", "f16", "bf16", "bool", "f64"].map((dtype) => dtypeOf(dtype as "i32")), ["c64", "c64", "c64", "c64", "c128"]); // biome-ignore format: one line
  });

  test("nothing has an empty transform, and an empty axis is filled with zeros", () => {
    const empty = tensor([], { device: "cpu", shape: [0, 4] });
    assert.deepEqual(fft.fft(empty).shape, [0, 4]);
    assert.deepEqual([...fft.rfft(empty, { axis: 0, n: 2 }).real().dataSync()], [0, 0, 0, 0, 0, 0, 0, 0]);
  });
});
