/** The inputs of a model as `init` and `summary` take them: tensors, or their shapes alone, in arrays and objects as the model takes them. */
import type { DType } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { isTensor, type Tensor, zeros } from "../../tensor/index.js";

/** Extents; null where the extent does not matter, as that of the batch. */
export type ShapeSpec = readonly (number | null)[];

/** A shape with a dtype other than f32: `{ shape: [null, 128], dtype: "i32" }`. */
export interface TensorSpec {
  readonly shape: ShapeSpec;
  readonly dtype?: DType;
}

/** Inputs of a model, or their shapes. */
export type InputSpec = Tensor | ShapeSpec | TensorSpec | readonly InputSpec[] | { readonly [name: string]: InputSpec };

/** Inputs of these shapes, with `extent` in place of null. They are never computed, so that their size costs nothing. */
export function exampleOf(spec: InputSpec, device: string, extent = 1): unknown {
  if (isTensor(spec)) return spec;
  if (isShape(spec)) return zeros(extentsOf(spec, extent), { device });
  if (Array.isArray(spec)) return (spec as readonly InputSpec[]).map((each) => exampleOf(each, device, extent));
  if (typeof spec !== "object" || spec === null) {
    throw new ArgumentError(`init: ${shown(spec)} is no input; give a tensor, or a shape as in [null, 784].`);
  }
  if ("shape" in spec && isShape(spec.shape)) {
    const { shape, dtype = "f32" } = spec as TensorSpec;
    return zeros(extentsOf(shape, extent), { device, dtype });
  }
  return Object.fromEntries(
    Object.entries(spec).map(([name, each]) => [name, exampleOf(each as InputSpec, device, extent)]),
  );
}

const isShape = (value: unknown): value is ShapeSpec =>
  Array.isArray(value) && value.every((extent) => extent === null || typeof extent === "number");

const extentsOf = (shape: ShapeSpec, instead: number): number[] => shape.map((extent) => extent ?? instead);

/** Where the shapes of inputs have null: nowhere, for the batch only, or on other axes too. */
export function nullsOf(spec: InputSpec): "none" | "batch" | "others" {
  if (isTensor(spec) || typeof spec !== "object" || spec === null) return "none";
  if (isShape(spec)) {
    if (spec.slice(1).includes(null)) return "others";
    return spec[0] === null ? "batch" : "none";
  }
  const inner = Object.values(spec).map((each) => nullsOf(each as InputSpec));
  return inner.includes("others") ? "others" : inner.includes("batch") ? "batch" : "none";
}
