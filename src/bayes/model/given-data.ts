/** Data of a model: copied when they are given, converted once to each dtype and device they are asked for in, and kept. */
import { type DType, isComplex, isFloat, type Scalar } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import type { Node } from "../../graph/node.js";
import { backendFor, flattenNested, type Nested, Tensor, tensor } from "../../tensor/index.js";
import { flagsOf, isMarked, type Missing, type MissingFlags, missingOn, type WithMissing } from "./missing-values.js";
import { namingErrors } from "./named-errors.js";

/** Observed values: a tensor, or numbers in arrays; `withMissing(…)` of these where some are missing. */
export type Observation = Tensor | Nested<number> | ArrayBufferView | WithMissing;

export interface GivenData<D> {
  /** The data that the function takes, with floats in the dtype. */
  readonly data: D;
  /** Observations by name, all in the dtype. */
  readonly observed: ReadonlyMap<string, Tensor>;
  /** Of those that are missing in part, where. */
  readonly missing: ReadonlyMap<string, Missing>;
  /** All tensors among these. */
  readonly tensors: readonly Tensor[];
}

/** Gives data in a dtype and on a device, which is that of the first tensor unless told; tensors elsewhere are copied there. */
export type DataIn<D> = (dtype: DType, device?: string) => GivenData<D>;

export function dataIn<D>(data: D, observed: Readonly<Record<string, Observation>>): DataIn<D> {
  const variants = new Map<string, GivenData<D>>();
  // Each throws, with the name, where its tensor has been disposed of.
  const alive: (() => Node)[] = [];
  const looked = (x: Tensor, name: string): Tensor => {
    const look = () => namingErrors(name, () => x.node);
    look();
    alive.push(look);
    return x;
  };
  // A copy: the data have been checked as they are now.
  const own = mapTensors(data, looked) as D;
  const gaps = new Map<string, MissingFlags>();
  const observations = Object.entries(observed).map(([name, given]) => {
    const values = isMarked(given) ? given.values : given;
    const observedValues = observation(name, values instanceof Tensor ? looked(values, name) : values);
    return [name, isMarked(given) ? withoutGaps(name, observedValues, gaps) : observedValues] as const;
  });
  const home = alive[0]?.().device.id ?? (observations.length > 0 ? backendFor().id : undefined);
  return (dtype, asked = home) => {
    const device = asked === undefined ? undefined : backendFor(asked).id;
    for (const look of alive) look();
    const key = `${dtype} ${device}`;
    const known = variants.get(key);
    if (known) return known;
    const tensors: Tensor[] = [];
    const converted = (x: Tensor, target: DType): Tensor => {
      // Cast where it is if it is to become smaller, or where it goes: either device may have no doubles.
      const cast = (y: Tensor) => (y.dtype === target ? y : y.cast(target).realize());
      const isThere = device === undefined || device === x.device;
      const result = isThere ? cast(x) : target === "f32" ? cast(x).to(device) : cast(x.to(device));
      tensors.push(result);
      return result;
    };
    const made: GivenData<D> = {
      data: mapTensors(own, (x) => converted(x, isFloat(x.dtype) ? dtype : x.dtype)) as D,
      // Doubles are rounded here, not on the device, which may have none.
      observed: new Map(
        observations.map(([name, given]) => [
          name,
          converted(
            given instanceof Tensor ? given : tensor(given.values, { shape: given.shape, dtype, device }),
            dtype,
          ),
        ]),
      ),
      missing: new Map(Array.from(gaps, ([name, flags]) => [name, missingOn(flags, device)])),
      tensors,
    };
    variants.set(key, made);
    return made;
  };
}

/** A tensor, or numbers with a shape. */
type ObservedValues = Tensor | { readonly values: Scalar[]; readonly shape: Shape };

/** Values with zeros in place of missing ones, whose places are noted in `gaps`. */
function withoutGaps(name: string, observed: ObservedValues, gaps: Map<string, MissingFlags>): ObservedValues {
  const read = observed instanceof Tensor ? Array.from(observed.dataSync() as ArrayLike<Scalar>) : observed.values;
  const values = read.map(Number);
  const found = flagsOf(name, values, observed.shape);
  if (!found) return observed;
  gaps.set(name, found);
  return { values: values.map((value) => (Number.isNaN(value) ? 0 : value)), shape: observed.shape };
}

/** A tensor, or a copy of numbers. */
function observation(name: string, given: Exclude<Observation, WithMissing>): ObservedValues {
  if (given === undefined || given === null) {
    throw new ArgumentError(`${name}: given without a value; leave the name out, or give it one.`);
  }
  const numbers = ArrayBuffer.isView(given) ? Array.from(given as unknown as ArrayLike<number>) : given;
  const flat = numbers instanceof Tensor ? numbers : namingErrors(name, () => flattenNested(numbers, "tensor"));
  if (flat instanceof Tensor ? isComplex(flat.dtype) : flat.values.some((value) => typeof value === "object")) {
    throw noComplex(name);
  }
  if (sizeOf(flat.shape) > 0) return flat;
  throw new ArgumentError(`${name}: there are no values; leave the name out to sample it.`);
}

export const noComplex = (name: string): ArgumentError =>
  new ArgumentError(`${name}: densities and draws are of real numbers, not of complex ones; use .real() and .imag().`);

/** The dtype data are checked in: f64 where some of them are. */
export function widestFloat(given: unknown): "f32" | "f64" {
  return tensorsAmong(given).some(({ dtype }) => dtype === "f64") ? "f64" : "f32";
}

function tensorsAmong(given: unknown): Tensor[] {
  const found: Tensor[] = [];
  mapTensors(given, (x) => {
    found.push(x);
    return x;
  });
  return found;
}

/** Whether a value is an object of names: one of no class. */
export function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Copies of nested arrays and plain objects with their tensors replaced, which have names; everything else stays. */
function mapTensors(value: unknown, map: (x: Tensor, name: string) => Tensor, name = "the data"): unknown {
  if (value instanceof Tensor) return map(value, name);
  if (Array.isArray(value)) return value.map((part) => mapTensors(part, map, name));
  if (ArrayBuffer.isView(value)) return structuredClone(value);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTensors(part, map, key)]));
}
