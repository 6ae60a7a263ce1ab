/** What the lanes of a small kernel compute, by the interpreter: for tests of functions that write parts of kernels. */
import type { IRType, Value } from "../../src/compiler/ir/ir.js";
import { KernelBuilder } from "../../src/compiler/ir/kernel-builder.js";
import type { DType } from "../../src/core/dtype.js";
import { dataOf, elementAt, encodeValues } from "../../src/core/storage.js";
import { interpretKernel } from "./kernel-interpreter.js";

interface Setting {
  readonly rows?: number;
  readonly lanes?: number;
  /** Buffers with these elements; their numbers are 0, 1, … */
  readonly inputs?: readonly { readonly dtype: DType; readonly values: readonly number[] }[];
}

/** The values that a function of a kernel returns: a list for each, with one entry per row and lane. Bools are 0 and 1. */
export function laneValues(setting: Setting, write: (k: KernelBuilder) => readonly Value[]): number[][] {
  const { rows = 1, lanes = 1, inputs = [] } = setting;
  const k = new KernelBuilder("small", rows, lanes);
  for (const { dtype } of inputs) k.buffer(dtype, false);
  const place = k.binary("add", k.binary("mul", k.row, k.constant("i32", lanes)), k.lane);
  const types = write(k).map((value) => {
    const isBool = value.type === "bool";
    const stored = isBool ? k.select(value, k.constant("i32", 1), k.constant("i32", 0)) : value;
    k.store(k.buffer(stored.type as DType, true), place, stored, false);
    return stored.type as Exclude<IRType, "bool">;
  });
  const results = types.map((type) => encodeValues(new Array(rows * lanes).fill(0), type, "result"));
  const given = inputs.map(({ dtype, values }) => encodeValues([...values], dtype, "input"));
  interpretKernel(k.finish(), [...given, ...results]);
  return results.map((bytes, at) =>
    Array.from({ length: rows * lanes }, (_, i) => Number(elementAt(dataOf(bytes, types[at]!), types[at]!, i))),
  );
}
