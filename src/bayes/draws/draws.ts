/**
 * The container for draws: named variables with shapes, many chains, a growing number of draws per chain, and the sampler's
 * statistics of each draw. Samplers append blocks to it; diagnostics, exports and the report read it one scalar at a
 * time, so every scalar element is stored by itself, chain after chain: a view of it costs nothing, and an ESS of 4096
 * chains walks through memory in order. Blocks are kept as they come, f32 as f32, and become one array when a
 * scalar is first asked for: a run that makes gigabytes of draws does not wait for the host to sort them.
 */
import { ArgumentError, ShapeError } from "../../core/errors.js";
import { checkShape, formatShape, type Shape, sizeOf, unravelIndex } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";

/** The draws of one scalar, chain after chain: draw i of chain c is `values[c * draws + i]`. */
export interface Chains {
  readonly values: Float64Array;
  readonly chains: number;
  readonly draws: number;
}

/** The statistics that a sampler notes of each draw; `divergent` is 0 or 1. */
export const STATISTICS = ["lp", "acceptance", "stepSize", "treeDepth", "leapfrogs", "divergent", "energy"] as const;

/** A statistic of the sampler, noted with every draw. */
export type Statistic = (typeof STATISTICS)[number];

/** The parts of `Draws`: chains, variables, and options of their tensors. */
export interface DrawsOptions {
  readonly chains: number;
  /** Names and shapes of the variables, `{ mu: [], theta: [8] }`. */
  readonly variables: Readonly<Record<string, Shape>>;
  /** The depth at which the sampler stops doubling its trajectories. `check` wants it. */
  readonly maxTreeDepth?: number;
  /** Groups of consecutive chains that started at one point each: what nested R-hat compares. */
  readonly superchains?: number;
  /** Of the tensors that `tensor` makes: f64 on the default device unless told. */
  readonly dtype?: "f32" | "f64";
  readonly device?: string;
}

/** Draws to append: arrays of chains × draws × elements, the last axis fastest. */
export interface DrawsBlock {
  readonly values: Readonly<Record<string, ArrayLike<number>>>;
  /** Arrays of chains × draws. */
  readonly stats?: Readonly<Partial<Record<Statistic, ArrayLike<number>>>>;
}

type FloatArray = Float32Array | Float64Array;

/** Draws to append that are sorted by scalar already: arrays of elements × chains × draws, and of chains × draws. */
export interface DrawsByScalar {
  readonly values: Readonly<Record<string, FloatArray>>;
  readonly stats?: Readonly<Partial<Record<Statistic, FloatArray>>>;
}

/** Some draws of every chain of a scalar, chains × draws. */
interface DrawsPart {
  readonly values: FloatArray;
  readonly draws: number;
}

/** Nested arrays of chains × draws × the variable's shape. */
export type NestedDraws = readonly (readonly NestedValue[])[];
type NestedValue = number | readonly NestedValue[];

/** Of variables that a model makes and does not name: what they are, and a number; and of missing observations. */
export type UnnamedVariable = `${string}_${number}` | `${string}_missing`;

/** The name of a variable: one that the model has, or any where names are not known. */
export type VariableName<N extends string> = N | UnnamedVariable;
/** `mu`, `theta[3]`. */
export type ScalarName<N extends string> = VariableName<N> | `${VariableName<N>}[${string}]`;

/** A variable (all its elements), one scalar, or scalars by pattern; a list of such. */
export type NameFilter<N extends string = string> = ScalarName<N> | RegExp | readonly (ScalarName<N> | RegExp)[];

/** The names of a variable's scalars, in row-major order and counted from 0 like everything here: `L[0,0]`, `L[0,1]` … */
export function scalarNames(variable: string, shape: Shape): string[] {
  if (shape.length === 0) return [variable];
  return Array.from({ length: sizeOf(shape) }, (_, i) => `${variable}[${unravelIndex(i, shape).join(",")}]`);
}

/** `N`: the names of the variables, where the compiler knows them. */
export class Draws<N extends string = string> {
  readonly chains: number;
  readonly variables: ReadonlyMap<string, Shape>;
  /** The names of all scalars: `mu`, `theta[0]`, `theta[1]` … */
  readonly names: readonly ScalarName<N>[];
  readonly maxTreeDepth: number | undefined;
  readonly superchains: number | undefined;
  /** The options of `tensor` unless others are given. */
  private readonly tensorOptions: Pick<DrawsOptions, "dtype" | "device">;

  /** By scalar, in the order they came. Reading makes one of them. */
  private readonly columns = new Map<string, DrawsPart[]>();
  private readonly statistics = new Map<Statistic, DrawsPart[]>();
  private count = 0;

  constructor(options: DrawsOptions) {
    const { chains, variables, superchains } = options;
    if (!Number.isSafeInteger(chains) || chains < 1) {
      throw new ArgumentError(`Draws: ${chains} chains; there is at least one, and a whole number of them.`);
    }
    if (superchains !== undefined && (!Number.isSafeInteger(superchains) || superchains < 1 || chains % superchains)) {
      throw new ArgumentError(`Draws: ${chains} chains cannot be ${superchains} superchains of equal size.`);
    }
    this.chains = chains;
    this.maxTreeDepth = options.maxTreeDepth;
    this.superchains = superchains;
    this.tensorOptions = { dtype: options.dtype, device: options.device };
    this.variables = new Map(
      Object.entries(variables).map(([name, shape]) => [name, checkShape(shape, `Draws: ${name}`)]),
    );
    for (const [variable, shape] of this.variables) {
      for (const name of scalarNames(variable, shape)) {
        if (this.columns.has(name)) throw new ArgumentError(`Draws: two variables have a scalar named "${name}".`);
        this.columns.set(name, []);
      }
    }
    this.names = [...this.columns.keys()] as ScalarName<N>[];
  }

  /** From nested arrays of chains × draws × shape: `Draws.from({ mu: [[0.1, 0.3], [0.2, 0.1]] })` has two chains. */
  static from(
    values: Readonly<Record<string, NestedDraws>>,
    options: Pick<DrawsOptions, "maxTreeDepth" | "superchains"> & {
      readonly stats?: Readonly<Partial<Record<Statistic, readonly (readonly number[])[]>>>;
    } = {},
  ): Draws {
    if (typeof values !== "object" || values === null) {
      throw new ArgumentError(`Draws.from: takes nested arrays by name, { mu: [[0.1, 0.3]] }, not ${shown(values)}.`);
    }
    const shapes = new Map(Object.entries(values).map(([name, nested]) => [name, nestedShape(name, nested)]));
    const first = [...shapes.values()][0];
    if (!first) throw new ArgumentError("Draws.from: no variables; give at least one, as in { mu: [[0.1, 0.3]] }.");
    const [chains] = first;
    const flat = Object.entries(values).map(([name, nested]) => [name, (nested as unknown[]).flat(Infinity)]);
    const stats = Object.entries(options.stats ?? {}).map(([name, nested]) => [name, nested.flat()]);
    const variables = Object.fromEntries([...shapes].map(([name, shape]) => [name, shape.slice(2)]));
    const draws = new Draws({ ...options, chains, variables });
    draws.append({ values: Object.fromEntries(flat), stats: Object.fromEntries(stats) });
    return draws;
  }

  /** Draws per chain. */
  get length(): number {
    return this.count;
  }

  /** Adds draws at the end of every chain. The first block settles which statistics there are. */
  append(block: DrawsBlock): void {
    const added = this.drawsIn(block);
    this.add(block, added, (values, elements) => scattered(values, this.chains * added, elements));
  }

  /** The same for draws that are sorted by scalar. The arrays are kept, not copied: they are the container's from now on. */
  appendByScalar(block: DrawsByScalar): void {
    const added = this.drawsIn(block);
    const size = this.chains * added;
    this.add(block, added, (values, elements) =>
      Array.from({ length: elements }, (_, e) => (values as FloatArray).subarray(e * size, (e + 1) * size)),
    );
  }

  private add(
    block: DrawsBlock,
    added: number,
    split: (values: ArrayLike<number>, elements: number) => readonly FloatArray[],
  ): void {
    for (const [variable, shape] of this.variables) {
      const columns = split(block.values[variable], sizeOf(shape));
      scalarNames(variable, shape).forEach((name, e) => {
        this.columns.get(name)?.push({ values: columns[e], draws: added });
      });
    }
    for (const [name, values] of Object.entries(block.stats ?? {})) {
      const parts = this.statistics.get(name as Statistic) ?? [];
      this.statistics.set(name as Statistic, parts);
      parts.push({ values: split(values, 1)[0], draws: added });
    }
    this.count += added;
  }

  /** The draws per chain of a block; all its arrays must agree. */
  private drawsIn(block: DrawsBlock): number {
    let added: number | undefined;
    const check = (name: string, values: ArrayLike<number> | undefined, elements: number) => {
      if (!values)
        throw new ArgumentError(`append: the block has no "${name}"; it must have what the first block had.`);
      if (elements === 0 && values.length === 0) return;
      const draws = values.length / (this.chains * elements);
      added ??= draws;
      if (draws === added && Number.isInteger(draws)) return;
      throw new ShapeError(
        `append: "${name}" has ${values.length} numbers; ${this.chains} chains × ` +
          `${Number.isInteger(added) ? added : "n"} draws × ${elements} elements were expected.`,
      );
    };
    for (const [name, shape] of this.variables) check(name, block.values[name], sizeOf(shape));
    const stats: Partial<Record<string, ArrayLike<number>>> = block.stats ?? {};
    for (const name of this.count > 0 ? this.statistics.keys() : Object.keys(stats)) check(name, stats[name], 1);

    const unknown =
      Object.keys(block.values).find((name) => !this.variables.has(name)) ??
      Object.keys(stats).find((name) =>
        this.count > 0 ? !this.statistics.has(name as Statistic) : !STATISTICS.includes(name as Statistic),
      );
    if (unknown !== undefined) {
      const known = [...this.variables.keys(), ...(this.count > 0 ? this.statistics.keys() : STATISTICS)];
      throw new ArgumentError(`append: there is no place for "${unknown}"; there are ${known.join(", ")}.`);
    }
    return added ?? 0;
  }

  /** The draws of a scalar in one array, which takes the place of its parts. */
  private chainsOf(parts: DrawsPart[]): Chains {
    const { chains, count: draws } = this;
    const values = joined(parts, chains, draws);
    parts.splice(0, parts.length, { values, draws });
    return { values, chains, draws };
  }

  /** The draws of one scalar by name, `mu` or `theta[3]`. The container's own array: do not write. */
  scalar(name: ScalarName<N>): Chains {
    const parts = this.columns.get(name);
    if (parts) return this.chainsOf(parts);
    const shape = this.variables.get(name);
    const hint = shape
      ? `"${name}" has shape ${formatShape(shape)}; name one element, "${name}[${shape.map(() => 0).join(",")}]"`
      : `there are ${this.named()}`;
    throw new ArgumentError(`scalar: no scalar is named "${name}"; ${hint}.`);
  }

  /** One of the sampler's statistics, or undefined where it was not noted. */
  stat(name: Statistic): Chains | undefined {
    const parts = this.statistics.get(name);
    return parts && this.chainsOf(parts);
  }

  /** The statistics there are. */
  get stats(): readonly Statistic[] {
    return STATISTICS.filter((name) => this.statistics.has(name));
  }

  /**
   * All draws of a variable as a tensor [chains, draws, ...shape], in the dtype and on the device that they were drawn in
   * and on unless told: `fit.draws.tensor("theta").mean({ axis: [0, 1] })`.
   */
  tensor(variable: VariableName<N>, options: Pick<DrawsOptions, "dtype" | "device"> = {}): Tensor<"f32" | "f64"> {
    const { dtype = "f64", device } = { ...this.tensorOptions, ...options };
    const shape = [this.chains, this.count, ...this.shapeOf(variable, "tensor")];
    const values = this.values(variable);
    // Rounded here: the device may have no doubles.
    return tensor(dtype === "f64" ? values : Float32Array.from(values), { device, shape });
  }

  private shapeOf(variable: string, what: string): Shape {
    const shape = this.variables.get(variable);
    if (shape) return shape;
    const known = [...this.variables.keys()].join(", ");
    throw new ArgumentError(`${what}: no variable is named "${variable}"; there are ${known}.`);
  }

  /** All draws of a variable, chains × draws × elements, the last axis fastest. */
  values(variable: VariableName<N>): Float64Array {
    const shape = this.shapeOf(variable, "values");
    const columns = scalarNames(variable, shape).map((name) => this.scalar(name as ScalarName<N>).values);
    const result = new Float64Array(this.chains * this.count * columns.length);
    columns.forEach((column, element) => {
      for (let i = 0; i < column.length; i++) result[i * columns.length + element] = column[i];
    });
    return result;
  }

  /** The names of the scalars that a filter lets through; all without one. */
  match(filter?: NameFilter<N>): readonly ScalarName<N>[] {
    if (filter === undefined) return this.names;
    const isOne = (item: unknown) => typeof item === "string" || item instanceof RegExp;
    const list = (isOne(filter) ? [filter] : filter) as readonly (ScalarName<N> | RegExp)[];
    if (!Array.isArray(list) || !list.every(isOne)) {
      throw new ArgumentError(
        `A filter is a name, a pattern or a list of these, "theta", /^beta/ or ["mu", "theta"], not ${shown(filter)}.`,
      );
    }
    const unknown = list.find(
      (item) => typeof item === "string" && !this.variables.has(item) && !this.columns.has(item),
    );
    if (typeof unknown === "string") this.scalar(unknown as ScalarName<N>); // throws, and says what there is
    const wanted = new Set(
      list.flatMap((item) => {
        if (item instanceof RegExp) return this.matching(item);
        return scalarNames(item, this.variables.get(item) ?? []);
      }),
    );
    return this.names.filter((name) => wanted.has(name));
  }

  private matching(pattern: RegExp): readonly string[] {
    const names = this.names.filter((name) => name.search(pattern) >= 0);
    if (names.length > 0) return names;
    throw new ArgumentError(`No scalar's name matches ${pattern}; there are ${this.named()}.`);
  }

  /** The variables, for errors. */
  private named(): string {
    return [...this.variables].map(([name, shape]) => (shape.length ? name + formatShape(shape) : name)).join(", ");
  }

  /** @internal A fit, of which this is a part, would be written without its draws, or not at all. */
  toJSON(): never {
    throw new ArgumentError(
      'Draws, and fits that have them, are no JSON: write [...arvizJson({ posterior: draws })].join(""), to a file with ' +
        'saveArviz, or draws.scalar("x").values for the numbers of a scalar; a summary\'s rows are plain objects.',
    );
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Draws(${this.chains} chains × ${this.count} draws of ${this.named()})`;
  }
}

/** Throws on what are no draws; a fit has some. */
export function checkDraws(operation: string, value: Draws): void {
  if (value instanceof Draws) return;
  const own = (value as { draws?: unknown } | null | undefined)?.draws;
  throw new ArgumentError(
    `${operation}: takes draws, as fit.draws or Draws.from(…), not ${shown(value)}${own instanceof Draws ? "; write .draws" : ""}.`,
  );
}

/** One array per element, of values that lie side by side for each draw. */
function scattered(values: ArrayLike<number>, size: number, elements: number): Float64Array[] {
  const columns = Array.from({ length: elements }, () => new Float64Array(size));
  let next = 0;
  for (let i = 0; i < size; i++) for (const column of columns) column[i] = values[next++];
  return columns;
}

function joined(parts: readonly DrawsPart[], chains: number, draws: number): Float64Array {
  if (parts.length === 1) {
    const [{ values }] = parts;
    return values instanceof Float64Array ? values : new Float64Array(values);
  }
  const result = new Float64Array(chains * draws);
  let first = 0;
  for (const { values, draws: count } of parts) {
    for (let c = 0; c < chains; c++) {
      result.set(values.subarray(c * count, (c + 1) * count), c * draws + first);
    }
    first += count;
  }
  return result;
}

/** The shape of nested arrays, which must be regular. */
function nestedShape(name: string, nested: NestedDraws): number[] {
  const shape: number[] = [];
  for (let at: NestedValue = nested; Array.isArray(at); at = at[0] as NestedValue) shape.push(at.length);
  const fits = (value: NestedValue, depth: number): boolean =>
    Array.isArray(value)
      ? value.length === shape[depth] && value.every((item) => fits(item as NestedValue, depth + 1))
      : depth === shape.length;
  if (shape.length >= 2 && fits(nested, 0)) return shape;
  throw new ShapeError(
    `Draws.from: "${name}" must be nested arrays of chains × draws × its shape, each as long as its siblings.`,
  );
}
