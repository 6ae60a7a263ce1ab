/**
 * Errors of a model's function that come from data it was not given: reading a name that is not there gives undefined, and
 * whatever fails then does not name the cause. `given` and `simulate` run the function under this.
 */
import { ArgumentError, PumiceError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type GivenData, isPlain } from "./given-data.js";

/** Runs a model's function on data. Where it fails because data are missing, the error says which. */
export function explainingMissingData<D, T>(
  fn: (data: D) => unknown,
  { data, observed }: Pick<GivenData<D>, "data" | "observed">,
  work: (data: D) => T,
): T {
  const missing = new Set<string>();
  try {
    return work(isPlain(data) ? notingMissing(data, missing) : data);
  } catch (error) {
    if (!(error instanceof PumiceError || error instanceof TypeError)) throw error;
    // Reading a name of data that are not there fails over undefined.
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

/** The same data; names that are asked for and not there are added to `missing`. */
function notingMissing<D extends object>(data: D, missing: Set<string>): D {
  return new Proxy(data, {
    get(target, name, receiver) {
      if (typeof name === "string" && !(name in target)) missing.add(name);
      return Reflect.get(target, name, receiver);
    },
  });
}
