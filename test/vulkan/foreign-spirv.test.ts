/**
 * "Runs any SPIR-V": the catalogue with shaders that others compiled from GLSL and HLSL, of every SPIR-V version,
 * optimised, stripped, with debug information, in either byte order, as bytes, words and files.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ArgumentError, FormatError, SizeMismatchError } from "../../src/core/errors.js";
import { catalogue, type DeviceBuffer } from "../../src/vulkan/index.js";
import { describeOnOpenDevices } from "../support/devices.js";
import {
  asFloats,
  bytesPer,
  type FloatArray,
  type FloatType,
  floats,
  randomFloats,
  rounded,
} from "../support/floats.js";
import { glslWithDebugInfo, hlsl, optimized, withoutSpirvOpt } from "../support/foreign-compilers.js";
import { type GlslOptions, glsl, temporaryFile, withoutGlslang } from "../support/glsl.js";
import { acceptedResults, binaryOracles, type Oracle, unaryOracles } from "./elementwise-oracles.js";
import * as shaders from "./foreign-shaders.js";

const TYPES = ["f32", "f64"] as const;
const TARGETS = { "vulkan1.0": 0, "vulkan1.1": 3, "vulkan1.2": 5, "vulkan1.3": 6 } as const;
const N = 1000;

/** What GLSL promises for these is loose, and differs between drivers: it is the shader's precision, not ours. */
const TOLERANCE: Readonly<Record<string, number>> = { pow: 1e-4, exp: 1e-5, log: 1e-5, sigmoid: 1e-5, tanh: 1e-4 };
const DIVISIONS = new Set(["div", "reciprocal", "sqrt"]);

/** Positive and of everyday size, where GLSL defines all the functions. */
function everyday(type: FloatType, seed: number): FloatArray {
  const random = randomFloats(type, seed);
  return floats(
    type,
    Array.from({ length: N }, () => random.between(0.1, 4)),
  );
}

const wordsOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(Uint8Array.from(bytes).buffer);

function swapped(bytes: Uint8Array): Uint8Array {
  const view = new DataView(Uint8Array.from(bytes).buffer);
  for (let at = 0; at < view.byteLength; at += 4) view.setUint32(at, view.getUint32(at, true), false);
  return new Uint8Array(view.buffer);
}

function assertClose(type: FloatType, oracle: Oracle, got: FloatArray, args: readonly FloatArray[]): void {
  for (let i = 0; i < got.length; i++) {
    const [{ value }] = acceptedResults(
      oracle,
      type,
      args.map((arg) => arg[i]),
    );
    const want = rounded(type, value.high);
    // Division and square root: within 3 ulp at f32; at f64 drivers promise no less.
    const slack = TOLERANCE[oracle.name] ?? (DIVISIONS.has(oracle.name) ? (type === "f32" ? 4e-7 : 1e-15) : 0);
    const called = `${oracle.name}(${args.map((arg) => arg[i]).join(", ")})`;
    assert.ok(
      Math.abs(got[i] - want) <= slack * Math.max(1, Math.abs(want)),
      `${type} ${called} is ${got[i]}, not ${want}`,
    );
  }
}

describeOnOpenDevices("shaders of others", withoutGlslang, (device) => {
  const hasType = (type: FloatType) => type === "f32" || device().plan.features.includes("shaderFloat64");
  const compile = (source: string, options?: GlslOptions) => glsl(source, options);

  /** Runs op codes of an elementwise kernel on everyday numbers and checks them. */
  const check = (type: FloatType, arity: 1 | 2, ops: readonly number[], shader: Uint32Array | Uint8Array | string) => {
    const args = Array.from({ length: arity }, (_, i) => everyday(type, 5 + i));
    const inputs = args.map((arg) => device().upload(arg));
    using out = device().alloc(N * bytesPer(type));
    const [a, b] = inputs as [DeviceBuffer, DeviceBuffer];
    for (const op of ops) {
      if (arity === 2) catalogue.applyBinary(out, a, b, N, op, { type, shader });
      else catalogue.applyUnary(out, a, N, op, { type, shader });
      assertClose(type, (arity === 2 ? binaryOracles : unaryOracles)[op], asFloats(type, out.readSync()), args);
    }
    for (const input of inputs) input.dispose();
  };
  const every = (oracles: readonly Oracle[]) => oracles.map((_, op) => op);

  for (const type of TYPES) {
    test(`every elementwise op of a GLSL shader, at ${type}`, (t) => {
      if (!hasType(type)) return t.skip("the device has no f64");
      check(type, 2, every(binaryOracles), compile(shaders.elementwiseBinary(type)));
      check(type, 1, every(unaryOracles), compile(shaders.elementwiseUnary(type)));
    });

    test(`reduceAxis, matmul and transpose2d by GLSL shaders, at ${type}`, (t) => {
      if (!hasType(type)) return t.skip("the device has no f64");
      const random = randomFloats(type, 17);
      const whole = (count: number) =>
        floats(
          type,
          Array.from({ length: count }, () => random.below(17) - 8),
        );
      const run = (
        want: readonly number[],
        inputs: readonly FloatArray[],
        call: (out: DeviceBuffer, ...a: DeviceBuffer[]) => void,
      ) => {
        const buffers = inputs.map((input) => device().upload(input));
        using out = device().alloc(want.length * bytesPer(type));
        call(out, ...buffers);
        assert.deepEqual(Array.from(asFloats(type, out.readSync())), want);
        for (const buffer of buffers) buffer.dispose();
      };
      const shader = compile(shaders.reduceAxis(type));
      const [outer, reduce, inner] = [5, 37, 29];
      const data = whole(outer * reduce * inner);
      const rows = Array.from({ length: outer * inner }, (_, slot) =>
        Array.from(
          { length: reduce },
          (_, r) => data[(Math.floor(slot / inner) * reduce + r) * inner + (slot % inner)],
        ),
      );
      const folds = [
        (row: number[]) => row.reduce((x, y) => x + y),
        (row: number[]) => Math.max(...row),
        (row: number[]) => Math.min(...row),
      ];
      folds.forEach((fold, op) => {
        run(rows.map(fold), [data], (out, a) =>
          catalogue.reduceAxis(out, a, outer, reduce, inner, op, { type, shader }),
        );
      });

      const [m, n, k] = [33, 50, 47];
      const [a, b] = [whole(m * k), whole(k * n)];
      const product = Array.from({ length: m * n }, (_, at) => {
        let total = 0;
        for (let l = 0; l < k; l++) total += a[Math.floor(at / n) * k + l] * b[l * n + (at % n)];
        return total;
      });
      run(product, [a, b], (out, x, y) =>
        catalogue.matmul(out, x, y, m, n, k, { type, shader: compile(shaders.matmul(type)) }),
      );

      const turned = Array.from({ length: m * k }, (_, at) => a[(at % m) * k + Math.floor(at / m)]);
      run(turned, [a], (out, x) =>
        catalogue.transpose2d(out, x, m, k, { type, shader: compile(shaders.transpose2d(type)) }),
      );
    });
  }

  for (const [target, minor] of Object.entries(TARGETS)) {
    test(`SPIR-V 1.${minor}, as compiled for ${target}`, (t) => {
      const options = { target: target as keyof typeof TARGETS };
      const module = compile(shaders.elementwiseBinary("f32"), options);
      assert.equal(module[5], minor, "the version in the module's header");
      if (minor > device().plan.spirv[1])
        return t.skip(`${device().name} takes up to SPIR-V ${device().plan.spirv.join(".")}`);
      check("f32", 2, [0, 3, 6], module);
      if (hasType("f64")) check("f64", 1, [2, 12], compile(shaders.elementwiseUnary("f64"), options));
    });
  }

  test("a module may be given as bytes, words, an ArrayBuffer, a view into more bytes, or the path of a file", () => {
    const module = compile(shaders.elementwiseBinary("f32"));
    const padded = new Uint8Array(module.length + 7);
    padded.set(module, 3);
    const file = temporaryFile("elementwise_binary.spv", module);
    try {
      const forms = [module, wordsOf(module), Uint8Array.from(module).buffer, padded.subarray(3, 3 + module.length)];
      for (const form of [...forms, file.path]) check("f32", 2, [1], form as Uint8Array);
    } finally {
      file.remove();
    }
  });

  test("a module written on a big-endian machine", () => {
    const module = swapped(compile(shaders.elementwiseBinary("f32")));
    assert.deepEqual(Array.from(module.subarray(0, 4)), [0x07, 0x23, 0x02, 0x03]);
    check("f32", 2, [0, 2], module);
    check("f32", 2, [0, 2], wordsOf(module));
  });

  test("a module with its source and line numbers in it", () => {
    check("f32", 2, [0, 1], glslWithDebugInfo(shaders.elementwiseBinary("f32")));
  });

  test("modules after spirv-opt: optimised, and stripped of names", { skip: withoutSpirvOpt }, () => {
    for (const target of ["vulkan1.0", "vulkan1.2"] as const) {
      const flags = [`--target-env=${target}`];
      for (const type of TYPES.filter(hasType)) {
        const binary = compile(shaders.elementwiseBinary(type), { target });
        check(type, 2, every(binaryOracles), optimized(binary, "-O", ...flags));
        const unary = compile(shaders.elementwiseUnary(type), { target });
        check(type, 1, every(unaryOracles), optimized(unary, "--strip-debug", ...flags));
        check(type, 1, [0, 7, 12], optimized(unary, "-Os", "--strip-debug", "--compact-ids", ...flags));
      }
    }
  });

  test("a buffer that an optimiser found unused keeps its place", { skip: withoutSpirvOpt }, () => {
    const source = shaders.elementwiseBinary("f32").replace(/y = b\[i\]/, "y = x");
    const module = optimized(compile(source), "-O");
    assert.equal(device().kernel(module).bindingCount, 3);
    using a = device().upload(new Float32Array([1, 2, 3]));
    using out = device().alloc(12);
    catalogue.applyBinary(out, a, a, 3, 0, { shader: module });
    assert.deepEqual(asFloats("f32", out.readSync()), new Float32Array([2, 4, 6]));
  });

  test("two views of one buffer, as fast shaders have them", () => {
    const kernel = device().kernel(
      compile(`#version 450
      layout(local_size_x = 64) in;
      layout(binding = 0) readonly buffer A { float a[]; };
      layout(binding = 0) readonly buffer Quads { vec4 quads[]; };
      layout(binding = 1) writeonly buffer Out { float o[]; };
      layout(push_constant) uniform Push { uint n; };
      void main() {
        uint i = gl_GlobalInvocationID.x;
        if (i < n) o[i] = a[i] + quads[i / 4].w;
      }`),
    );
    using a = device().upload(new Float32Array([1, 2, 3, 4, 5, 6, 7, 8]));
    using out = device().alloc(32);
    kernel.run({ buffers: [a, out], push: new Uint32Array([8]), groups: [1] });
    assert.deepEqual(asFloats("f32", out.readSync()), new Float32Array([5, 6, 7, 8, 13, 14, 15, 16]));
  });

  test("a shader compiled from HLSL", () => {
    // For later targets glslang's HLSL front end writes modules that spirv-val refuses.
    for (const target of ["vulkan1.0", "vulkan1.1"]) check("f32", 2, [0, 1, 2, 5, 6], hlsl(shaders.hlslBinary, target));
  });

  test("any workgroup size, also one that a constant decides", () => {
    for (const localSize of ["local_size_x = 1", "local_size_x = 32", "local_size_x = 37, local_size_y = 1"]) {
      check("f32", 2, [0], compile(shaders.elementwiseBinary("f32", localSize)));
    }
    for (const target of ["vulkan1.0", "vulkan1.2"] as const) {
      const module = compile(shaders.elementwiseBinary("f32", "local_size_x = 16, local_size_x_id = 3"), { target });
      check("f32", 2, [1], module);
      const kernel = device().kernel(module, { specialization: { 0: 2, 3: 8 } });
      assert.deepEqual(kernel.localSize, [8, 1, 1]);
      const [a, b] = [everyday("f32", 1), everyday("f32", 2)];
      const buffers = [device().upload(a), device().upload(b), device().alloc(4 * N)];
      kernel.run({ buffers, push: new Uint32Array([N]), groups: [N / 8] });
      assertClose("f32", binaryOracles[2], asFloats("f32", buffers[2].readSync()), [a, b]);
    }
  });

  test("the caller's shader decides what an op code does", () => {
    const hypotenuse = shaders.elementwiseBinary("f32").replace("x + y", "sqrt(x * x + y * y)");
    using a = device().upload(new Float32Array([3, 5]));
    using b = device().upload(new Float32Array([4, 12]));
    using out = device().alloc(8);
    catalogue.applyBinary(out, a, b, 2, 0, { shader: compile(hypotenuse) });
    assert.deepEqual(Array.from(asFloats("f32", out.readSync()), Math.round), [5, 13]);
  });

  test("more elements than a row of workgroups of the caller's shader are refused, not left out", (t) => {
    const [widest] = device().plan.limits.maxComputeWorkGroupCount;
    if (widest > 2 ** 20) return t.skip(`${device().name} allows ${widest} workgroups in a row`);
    const shader = compile(shaders.elementwiseUnary("f32", "local_size_x = 1"));
    using a = device().alloc(4 * (widest + 1));
    assert.throws(() => catalogue.applyUnary(a, a, widest + 1, 4, { shader }), {
      name: "ArgumentError",
      message: new RegExp(`${widest + 1} groups along x; .* from 1 to ${widest}`),
    });
    catalogue.applyUnary(a, a, widest, 0, { shader });
    assert.equal(asFloats("f32", a.readSync())[widest - 1], 1);
  });

  test("a shader that does not keep the contract is refused with what is wrong", () => {
    using a = device().alloc(16);
    using b = device().alloc(16);
    const unary = compile(shaders.elementwiseUnary("f32"));
    const run = (shader: Uint8Array | string) => () => catalogue.applyBinary(a, b, b, 4, 0, { shader });
    assert.throws(run(unary), /binds 2 buffers; 3 were given/);
    assert.throws(run(compile(shaders.matmul("f32"))), /no specialisation constant 0; it has none/);
    assert.throws(
      () => catalogue.transpose2d(a, b, 2, 2, { shader: compile(shaders.reduceAxis("f32")) }),
      SizeMismatchError,
    );
    assert.throws(run(new TextEncoder().encode(shaders.elementwiseBinary("f32").padEnd(2000))), FormatError);
    assert.throws(run("/nowhere/elementwise_binary.spv"), ArgumentError);
    assert.throws(run(unary.subarray(0, 401)), FormatError);
  });
});
