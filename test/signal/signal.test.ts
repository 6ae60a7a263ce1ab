/** Signals: every function against SciPy's values, and what must hold of them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { jit, random, signal, type Tensor, tensor } from "../../src/index.js";
import { assertNear, type PackedArray, readCases, tensorOf } from "../support/scipy-cases.js";
import { describeOnTensorDevices, devicesWithDoubles } from "../support/tensors.js";

interface Case {
  readonly name: keyof typeof signal;
  readonly inputs: readonly PackedArray[];
  readonly args: readonly number[];
  readonly options: object;
  /** By the name of the result; one without a name is the result itself. */
  readonly results: Readonly<Record<string, PackedArray>>;
}

describeOnTensorDevices("SciPy's values", (device) => {
  const cases = readCases<Case>("signal");
  const dtype = devicesWithDoubles().includes(device) ? "f64" : "f32";
  for (const name of [...new Set(cases.map((each) => each.name))]) {
    test(name, () => {
      for (const { inputs, args, options, results } of cases.filter((other) => other.name === name)) {
        const call = signal[name] as unknown as (...args: unknown[]) => Tensor & Record<string, Tensor>;
        const given = inputs.map((each) => tensorOf(each, dtype));
        const found = call(...given, ...args, inputs.length > 0 ? options : { ...options, dtype });
        for (const [key, wanted] of Object.entries(results)) {
          const result = key === "" ? found : (found[key] as Tensor);
          const tolerance = result.dtype === "f64" || result.dtype === "c128" ? 1e-10 : 2e-5;
          assertNear(result, wanted, tolerance, `${name} ${key} ${JSON.stringify([args, options])}`);
        }
      }
    });
  }
});

describeOnTensorDevices("signals", (device) => {
  test("istft inverts stft", () => {
    const x = random.normal(random.key(5), [2, 1000]);
    for (const options of [
      { nperseg: 64 },
      { nperseg: 100, noverlap: 75 },
      { nperseg: 63, window: "hamming" },
    ] as const) {
      const { values } = signal.stft(x, options);
      const back = signal.istft(values, options).values.at("...", ":1000");
      assert.ok((back.sub(x).abs().max().itemSync() as number) < 1e-4, JSON.stringify(options));
    }
  });

  test("frequencies and times are as exact as the signal", () => {
    for (const dtype of devicesWithDoubles().includes(device) ? (["f64", "f32", "f16"] as const) : (["f32"] as const)) {
      const x = random.normal(random.key(6), [60], { dtype: "f32" }).cast(dtype);
      const wide = dtype === "f64" ? "f64" : "f32";
      const { frequencies, times, values } = signal.stft(x, { nperseg: 15, fs: 7 });
      assert.deepEqual([frequencies.dtype, times.dtype], [wide, wide]);
      assert.equal(signal.istft(values, { nperseg: 15, fs: 7 }).times.dtype, wide);
      const step = frequencies.at(1).itemSync() as number;
      assert.ok(Math.abs(step - 7 / 15) < (dtype === "f64" ? 1e-15 : 1e-7), `${dtype} ${step}`);
      const spectra = [signal.welch(x, { nperseg: 15 }), signal.periodogram(x), signal.csd(x, x, { nperseg: 15 })];
      for (const each of [...spectra, signal.coherence(x, x, { nperseg: 15 })])
        assert.equal(each.frequencies.dtype, wide);
    }
  });

  test("a window of one's own for resample is given by frequency; both signs have the mean of their factors", () => {
    const x = random.normal(random.key(8), [2, 9]);
    const values = [1, 0.9, 0.6, 0.5, 0.1, 0.3, 0.2, 0.8, 0.4];
    const mean = values.map((value, k) => (value + values[(9 - k) % 9]!) / 2);
    const of = (window: readonly number[]) => signal.resample(x, 12, { axis: 1, window: tensor([...window]) });
    const complex = (window: readonly number[]) =>
      signal.resample(x.cast("c64"), 12, { axis: 1, window: tensor([...window]) });
    const wanted = complex(mean).real();
    for (const each of [of(values), of(mean)]) {
      assert.ok((each.sub(wanted).abs().max().itemSync() as number) < 1e-5);
    }
    assert.ok((complex(values).imag().abs().max().itemSync() as number) > 1e-2, "complex signals keep both factors");
  });

  test("a window of one's own, and stft inside jit", () => {
    const x = random.normal(random.key(6), [300]);
    const window = signal.hann(32, { sym: false });
    const own = signal.stft(x, { window }).values;
    const named = jit((y: Tensor) => signal.stft(y, { nperseg: 32 }).values)(x);
    assert.ok((own.sub(named).abs().max().itemSync() as number) < 1e-5);
  });

  test("a convolution is the same by either method, in several axes, and integers stay exact", () => {
    const [a, b] = [random.normal(random.key(1), [20, 31]), random.normal(random.key(2), [5, 6])];
    for (const mode of ["full", "same", "valid"] as const) {
      const direct = signal.convolve(a, b, { mode, method: "direct" });
      const quick = signal.convolve(a, b, { mode, method: "fft" });
      assert.ok((direct.sub(quick).abs().max().itemSync() as number) < 1e-4, mode);
    }
    const whole = tensor([1, 2, 3], { dtype: "i32" });
    assert.deepEqual([...signal.convolve(whole, whole).dataSync()], [1, 4, 10, 12, 9]);
  });
});

describe("arguments of signals", () => {
  const x = tensor([1, 2, 3, 4], { device: "cpu" });
  const throws = (f: () => unknown, message: RegExp) => assert.throws(f, { message });
  test("what is wrong is named, with the remedy", () => {
    throws(() => signal.stft(x, { nperseg: 2, noverlap: 2 }), /^signal\.stft: noverlap is 2; it is less than nperseg/);
    throws(() => signal.stft(x, { nperseg: 4, nfft: 2 }), /^signal\.stft: nfft is 2; it is at least nperseg/);
    throws(
      () => signal.stft(x, { window: "han" as "hann" }),
      /^signal\.stft: there is no window "han"; there are boxcar/,
    );
    throws(
      () => signal.stft(x, { window: "kaiser" }),
      /^signal\.stft: the window kaiser takes beta; write \["kaiser", beta\]/,
    );
    throws(() => signal.welch(x, { window: x, nperseg: 2 }), /^signal\.welch: a window of \[4\] for segments of 2/);
    throws(() => signal.istft(x), /^signal\.istft: \[4\] is no transform/);
    throws(() => signal.convolve(x, x.reshape([2, 2])), /^signal\.convolve: signals of \[4\] and \[2, 2\]/);
    throws(
      () => signal.convolve(x.reshape([4, 1]), x.reshape([1, 4]), { mode: "valid" }),
      /overlap nowhere as a whole/,
    );
    throws(() => signal.hilbert(signal.hilbert(x)), /^signal\.hilbert: takes real numbers/);
  });
});
