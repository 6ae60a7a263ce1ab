/** Data as models see them: in the dtype of the evaluation, converted once and kept. */
import { type DType, isFloat } from "../../core/dtype.js";
import { ArgumentError } from "../../core/errors.js";
import { tensor } from "../../tensor/creation.js";
import { backendFor } from "../../tensor/devices.js";
import { type Nested, Tensor } from "../../tensor/tensor.js";

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
  const own = tensorsIn([data, observed])[0]?.device;
  return (dtype, device = own) => {
    const place = `${dtype} ${device}`;
    const known = kept.get(place);
    if (known) return known;
    const tensors: Tensor[] = [];
    const keep = (x: Tensor, target: DType): Tensor => {
      // Cast where it is if it is to become smaller, or where it goes: either device may have no doubles.
      const cast = (y: Tensor) => (y.dtype === target ? y : y.cast(target).realize());
      const isThere = device === undefined || backendFor(device).id === x.device;
      const held = isThere ? cast(x) : target === "f32" ? cast(x).to(device) : cast(x.to(device));
      tensors.push(held);
      return held;
    };
    const made: GivenData<D> = {
      data: mapTensors(data, (x) => keep(x, isFloat(x.dtype) ? dtype : x.dtype)) as D,
      observed: new Map(
        Object.entries(observed).map(([name, values]) => {
          const held = values instanceof Tensor ? values : observation(name, values, dtype, device);
          return [name, keep(held, dtype)];
        }),
      ),
      tensors,
    };
    kept.set(place, made);
    return made;
  };
}

function observation(name: string, values: Exclude<Observation, Tensor>, dtype: DType, device?: string): Tensor {
  if (values === undefined || values === null) {
    throw new ArgumentError(`${name}: given without a value; leave the name out, or give it one.`);
  }
  // Doubles are rounded here, not on the device, which may have none.
  const numbers = ArrayBuffer.isView(values) ? Array.from(values as unknown as ArrayLike<number>) : values;
  return tensor(numbers, { dtype, device });
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

/** Nested arrays and plain objects with their tensors replaced; everything else stays. */
function mapTensors(value: unknown, map: (x: Tensor) => Tensor): unknown {
  if (value instanceof Tensor) return map(value);
  if (Array.isArray(value)) return value.map((part) => mapTensors(part, map));
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapTensors(part, map)]));
}
