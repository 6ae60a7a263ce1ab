/** The catalogue as a contract: the seeds' op codes, valid SPIR-V, and a clear answer to every misuse. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArgumentError, DisposedError, SizeMismatchError } from "../../src/core/errors.js";
import { disassemble } from "../../src/spirv/index.js";
import { gaussianChainShader } from "../../src/vulkan/gaussian-chain.js";
import { catalogue, type DeviceBuffer } from "../../src/vulkan/index.js";
import { binaryShader, matmulShader, reduceShader, transposeShader, unaryShader } from "../../src/vulkan/shaders.js";
import { describeOnOpenDevices } from "../support/devices.js";
import { assertValid, without } from "../support/spirv-val.js";
import { binaryOracles, unaryOracles } from "./elementwise-oracles.js";

describe("the catalogue", () => {
  test("op codes are those of the seeds", () => {
    assert.deepEqual(catalogue.binaryOps, ["add", "mul", "sub", "div", "pow", "max", "min"]);
    assert.deepEqual(
      catalogue.binaryOps,
      binaryOracles.map(({ name }) => name),
    );
    assert.deepEqual(
      catalogue.unaryOps,
      "exp log sqrt abs neg sigmoid tanh relu ceil floor sign reciprocal square".split(" "),
    );
    assert.deepEqual(
      catalogue.unaryOps,
      unaryOracles.map(({ name }) => name),
    );
    assert.deepEqual(catalogue.reduceOps, ["sum", "max", "min"]);
  });

  const shaders = { binaryShader, unaryShader, reduceShader, matmulShader, transposeShader, gaussianChainShader };
  for (const [name, shader] of Object.entries(shaders)) {
    for (const type of ["f32", "f64"] as const) {
      test(`${name} at ${type} is valid SPIR-V`, { skip: without("spirv-val") }, () => assertValid(shader(type)));
    }
  }

  // Not seen by running them where the driver never fuses, as software Vulkan does not.
  for (const [name, shader] of Object.entries({ binaryShader, unaryShader, reduceShader, gaussianChainShader })) {
    test(`${name} forbids fusing a product into a sum, so that its bits are the same everywhere`, () => {
      for (const type of ["f32", "f64"] as const) {
        const text = disassemble(shader(type));
        const fixed = new Set(Array.from(text.matchAll(/OpDecorate (%\w+) NoContraction/g), (match) => match[1]));
        const rounding = Array.from(text.matchAll(/(%\w+) = OpF(?:Add|Sub|Mul) /g), (match) => match[1]);
        assert.ok(rounding.length > 0);
        assert.deepEqual(
          rounding.filter((id) => !fixed.has(id)),
          [],
        );
      }
    });
  }
});

describeOnOpenDevices("misuse of the catalogue", false, (device, which) => {
  const { applyBinary, applyUnary, reduceAxis, matmul, transpose2d } = catalogue;
  /** Zeroed f32 buffers of these lengths. */
  const make = (...lengths: number[]) => lengths.map((n) => device().alloc(4 * n)) as DeviceBuffer[];

  test("an op code that is not there is answered with the ones that are", () => {
    const [a, b, out] = make(4, 4, 4);
    for (const op of [7, -1, 0.5, NaN]) {
      assert.throws(() => applyBinary(out, a, b, 4, op), {
        name: "ArgumentError",
        message: `applyBinary: there is no op ${op}; ops are 0 add, 1 mul, 2 sub, 3 div, 4 pow, 5 max, 6 min.`,
      });
    }
    assert.throws(() => applyUnary(out, a, 4, 13), /no op 13; ops are 0 exp, 1 log, .*, 11 reciprocal, 12 square/);
    assert.throws(() => reduceAxis(out, a, 4, 1, 1, 3), /reduceAxis: there is no op 3; ops are 0 sum, 1 max, 2 min/);
  });

  test("buffers of unlike sizes are a size mismatch that names the sizes", () => {
    const [a, b, c] = make(4, 5, 4);
    assert.throws(() => applyBinary(a, b, c, 4, 0), {
      name: "SizeMismatchError",
      message: "applyBinary: the buffers must be of one size; they have out 16, a 20, b 16 bytes.",
    });
    assert.throws(() => applyUnary(a, b, 4, 0), SizeMismatchError);
    assert.throws(() => reduceAxis(a, b, 4, 1, 1, 0), /reduceAxis: a has 20 bytes; 16 are needed/);
    assert.throws(() => reduceAxis(b, a, 4, 1, 1, 0), /reduceAxis: out has 20 bytes; 16 are needed/);
    assert.throws(() => matmul(a, b, c, 2, 2, 2), /matmul: a has 20 bytes; 16 are needed/);
    assert.throws(() => matmul(c, a, b, 2, 2, 2), /matmul: b has 20 bytes; 16 are needed/);
    assert.throws(() => matmul(b, a, c, 2, 2, 2), /matmul: out has 20 bytes; 16 are needed/);
    assert.throws(() => transpose2d(a, b, 2, 2), /transpose2d: a has 20 bytes; 16 are needed/);
    assert.throws(() => transpose2d(b, a, 2, 2), /transpose2d: out has 20 bytes; 16 are needed/);
  });

  test("more elements than the buffers hold are refused, in bytes of the type", () => {
    const [a, b, out] = make(4, 4, 4);
    assert.throws(() => applyBinary(out, a, b, 5, 0), /5 elements need 20 bytes; the buffers have 16/);
    assert.throws(() => applyBinary(out, a, b, 3, 0, { type: "f64" }), /3 elements need 24 bytes; the buffers have 16/);
    assert.throws(() => applyUnary(out, a, 2 ** 31, 0), SizeMismatchError);
    assert.throws(() => reduceAxis(out, a, 65536, 65536, 65536, 0), SizeMismatchError);
  });

  test("counts are whole numbers below 2^32", () => {
    const [a, b, out] = make(4, 4, 4);
    for (const count of [-1, 0.5, 2 ** 32, NaN, Infinity]) {
      const refusal = {
        name: "ArgumentError",
        message: new RegExp(`is ${count}; it must be a whole number below 2\\^32`),
      };
      assert.throws(() => applyBinary(out, a, b, count, 0), refusal);
      assert.throws(() => applyUnary(out, a, count, 0), refusal);
      assert.throws(() => reduceAxis(out, a, 1, count, 1, 0), refusal);
      assert.throws(() => matmul(out, a, b, 2, count, 2), refusal);
      assert.throws(() => transpose2d(out, a, count, 1), refusal);
    }
  });

  test("a disposed buffer is refused wherever it stands", () => {
    const [a, b, out, gone] = make(4, 4, 4, 4);
    gone.dispose();
    assert.throws(() => applyBinary(out, gone, b, 4, 0), DisposedError);
    assert.throws(() => applyBinary(out, a, gone, 4, 0), DisposedError);
    assert.throws(() => applyBinary(gone, a, b, 4, 0), DisposedError);
    assert.throws(() => applyUnary(gone, a, 4, 0), DisposedError);
    assert.throws(() => reduceAxis(gone, a, 4, 1, 1, 0), DisposedError);
    assert.throws(() => matmul(out, gone, b, 2, 2, 2), DisposedError);
    assert.throws(() => transpose2d(out, gone, 2, 2), DisposedError);
    // The two-pass way has a buffer of its own by then; it must not be lost.
    const [long] = make(100_000);
    const [one] = make(1);
    one.dispose();
    const { buffers } = device().stats();
    assert.throws(() => reduceAxis(one, long, 1, 100_000, 1, 0), DisposedError);
    assert.equal(device().stats().buffers, buffers);
  });

  test("buffers of two devices do not meet, and a closed device says so", async () => {
    const other = await which.open();
    const theirs = other.alloc(16);
    const [a, out] = make(4, 4);
    assert.throws(() => applyUnary(out, theirs, 4, 0), ArgumentError);
    await other.close();
    assert.throws(() => applyUnary(theirs, theirs, 4, 0), DisposedError);
    applyUnary(out, a, 4, 0);
    assert.deepEqual(new Float32Array(out.readSync().buffer), new Float32Array(4).fill(1));
  });

  test("a mistake leaves no trace: the next call works", () => {
    const [a, b, out] = make(4, 4, 4);
    assert.throws(() => applyBinary(out, a, b, 9, 0));
    applyUnary(a, a, 4, 0);
    applyBinary(out, a, b, 4, 0);
    assert.deepEqual(new Float32Array(out.readSync().buffer), new Float32Array(4).fill(1));
  });
});
