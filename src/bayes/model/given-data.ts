/** Data as models see them: copied when they are given, and in the dtype of the evaluation, converted once and kept. */
import { type DType, isComplex, isFloat, type Scalar } from "../../core/dtype.js";
import { ArgumentError, PumiceError } from "../../core/errors.js";
import { type Shape, sizeOf } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Node } from "../../graph/node.js";
import { backendFor, flattenNested, type Nested, Tensor, tensor } from "../../tensor/index.js";
import { speakingOf } from "./run.js";

/** Observed values: a tensor, or numbers in arrays. */
export type Observation = Tensor | Nested<number> | ArrayBufferView;

export interface GivenData<D> {
  /** What the function takes, with floats in the dtype. */
  readonly data: D;
  /** Observations by name, all in the dtype. */
  readonly observed: ReadonlyMap<string, Tensor>;
  /** All tensors among these. */
  readonly tensors: readonly Tensor[];
}

/** Gives data in a dtype and on a device, which is that of the first tensor unless told; tensors elsewhere are copied there. */
export type DataIn<D> = (dtype: DType, device?: string) => GivenData<D>;

export function dataIn<D>(data: D, observed: Readonly<Record<string, Observation>>): DataIn<D> {
  const kept = new Map<string, GivenData<D>>();
  // What the caller does to arrays after this is not seen: they have been checked as they are.
  const alive: (() => Node)[] = [];
  const looked = (x: Tensor, name: string): Tensor => {
    const look = () => speakingOf(name, () => x.node);
    look();
    alive.push(look);
    return x;
  };
  const own = mapTensors(data, looked) as D;
  const observations = Object.entries(observed).map(([name, values]) => {
    const held = values instanceof Tensor ? looked(values, name) : values;
    return [name, observation(name, held)] as const;
  });
  const home = alive[0]?.().device.id ?? (observations.length > 0 ? backendFor().id : undefined);
  return (dtype, asked = home) => {
    const device = asked === undefined ? undefined : backendFor(asked).id;
    for (const look of alive) look();
    const place = `${dtype} ${device}`;
    const known = kept.get(place);
    if (known) return known;
    const tensors: Tensor[] = [];
    const keep = (x: Tensor, target: DType): Tensor => {
      // Cast where it is if it is to become smaller, or where it goes: either device may have no doubles.
      const cast = (y: Tensor) => (y.dtype === target ? y : y.cast(target).realize());
      const isThere = device === undefined || device === x.device;
      const held = isThere ? cast(x) : target === "f32" ? cast(x).to(device) : cast(x.to(device));
      tensors.push(held);
      return held;
    };
    const made: GivenData<D> = {
      data: mapTensors(own, (x) => keep(x, isFloat(x.dtype) ? dtype : x.dtype)) as D,
      // Doubles are rounded here, not on the device, which may have none.
      observed: new Map(
        observations.map(([name, held]) => [
          name,
          keep(held instanceof Tensor ? held : tensor(held.values, { shape: held.shape, dtype, device }), dtype),
        ]),
      ),
      tensors,
    };
    kept.set(place, made);
    return made;
  };
}

/** A tensor, or a copy of numbers. */
function observation(name: string, given: Observation): Tensor | { readonly values: Scalar[]; readonly shape: Shape } {
  if (given === undefined || given === null) {
    throw new ArgumentError(`${name}: given without a value; leave the name out, or give it one.`);
  }
  const numbers = ArrayBuffer.isView(given) ? Array.from(given as unknown as ArrayLike<number>) : given;
  const held = numbers instanceof Tensor ? numbers : speakingOf(name, () => flattenNested(numbers, "tensor"));
  if (held instanceof Tensor ? isComplex(held.dtype) : held.values.some((value) => typeof value === "object")) {
    throw noComplex(name);
  }
  if (sizeOf(held.shape) > 0) return held;
  throw new ArgumentError(`${name}: there are no values; leave the name out to sample it.`);
}

export const noComplex = (name: string): ArgumentError =>
  new ArgumentError(`${name}: densities and draws are of real numbers, not of complex ones; use .real() and .imag().`);

/** Runs a model's function on data; where it fails over a part that is not there, the error says so. */
export function explaining<D, T>(
  fn: (data: D) => unknown,
  { data, observed }: Pick<GivenData<D>, "data" | "observed">,
  work: (data: D) => T,
): T {
  const missing = new Set<string>();
  try {
    return work(isPlain(data) ? noting(data, missing) : data);
  } catch (error) {
    if (!(error instanceof PumiceError || error instanceof TypeError)) throw error;
    // Whoever reads a part of data that are not there reads it of undefined, or finds it undefined.
    if (!isPlain(data) && fn.length > 0 && /\b(undefined|null)\b/.test(error.message)) {
      const found = data === undefined ? "none were given" : `${shown(data)} was given, which has no names`;
      throw new ArgumentError(
        `model: the function takes data, and ${found}: given({ y }, { x }). It fails with "${error.message}".`,
        { cause: error },
      );
    }
    const untensored = error instanceof TypeError && missing.size === 0 ? plainNumbersIn(data) : [];
    if (untensored.length > 0) {
      const [name] = untensored;
      throw new ArgumentError(
        `model: the function fails with "${(error as TypeError).message}", and among its data ${untensored.join(", ")} ` +
          `${untensored.length === 1 ? "is" : "are"} plain numbers, which it gets as they are; what it computes with is a ` +
          `tensor: given(observed, { ${name}: tensor(…) }).`,
        { cause: error },
      );
    }
    if (missing.size === 0) throw error;
    const asked = Array.from(missing, (name) => `"${name}"`).join(", ");
    const swapped = [...missing].find((name) => observed.has(name));
    const order =
      swapped === undefined
        ? ""
        : ` ${swapped} is among the observations, which come first: given({ y }, { ${swapped} }).`;
    const known = Object.keys(data as object).join(", ") || "none";
    const Kind = error instanceof PumiceError ? (error.constructor as typeof PumiceError) : ArgumentError;
    const message = error.message.replace(/\.?$/, ".");
    throw new Kind(`${message} The model asks for data ${asked}; there are ${known}.${order}`, { cause: error });
  }
}

/** The names of data that are numbers, or lists of them, and no tensors. */
function plainNumbersIn(data: unknown): string[] {
  const isNumbers = (value: unknown): boolean =>
    typeof value === "number" ||
    ArrayBuffer.isView(value) ||
    (Array.isArray(value) && value.length > 0 && isNumbers(value[0]));
  return isPlain(data) ? Object.entries(data).flatMap(([name, value]) => (isNumbers(value) ? [name] : [])) : [];
}

/** Data that note the names they are asked for in vain. */
function noting<D extends object>(data: D, missing: Set<string>): D {
  return new Proxy(data, {
    get(target, name, receiver) {
      if (typeof name === "string" && !(name in target)) missing.add(name);
      return Reflect.get(target, name, receiver);
    },
  });
}

/** The dtype data are checked in: f64 where some of them are. */
export function widestFloat(given: unknown): "f32" | "f64" {
  return tensorsIn(given).some(({ dtype }) => dtype === "f64") ? "f64" : "f32";
}

export function tensorsIn(given: unknown): Tensor[] {
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
