/**
 * Keeps values that a row computes in one loop and again in a later one, in an array of the row.
 *
 * A softmax is three loops over its row: the maximum, the sum of exp(x - maximum), and the quotients, which need the same
 * exponentials. On a GPU the lanes of a row hold them in registers (lane-walk.ts). A thread of a CPU has the whole row to
 * itself: too long for registers, short enough for its cache. Storing and loading an element costs much less there than an
 * exponential. compile.ts calls this for every kernel of a fused group.
 */
import { DTYPES } from "../../core/dtype.js";
import {
  type ArrayDeclaration,
  type Kernel,
  type Loop,
  type Statement,
  usedBy,
  type Value,
  withBody,
} from "../ir/ir.js";

/** A value is kept if at least so many others must be computed for it. */
const WORTH_KEEPING = 8;

/** A loop, and those around it, outermost first; they run all their rounds. */
type Nest = readonly Loop[];

/** The loop nest in which a value is computed first. */
interface Made {
  readonly nest: Nest;
  readonly value: Value;
}

/** The kernel with repeated values kept, in at most so many bytes. */
export function keepRepeatedValues(kernel: Kernel, bytes: number): Kernel {
  if (kernel.lanes > 1 || bytes === 0) return kernel;
  const nests = nestsIn(kernel.body);
  if (new Set(nests.map(shapeOf)).size === nests.length) return kernel;
  const numbers = numbered(kernel.body);
  const numberOf = ({ id }: Value) => numbers.get(id) as number;
  const made = new Map<string, Map<number, Made>>();
  const keeper = new Keeper(kernel, bytes, Math.max(...numbers.keys()) + 1);
  for (const nest of nests) {
    const shape = shapeOf(nest);
    const before = made.get(shape) ?? new Map<number, Made>();
    made.set(shape, before);
    const values = valuesIn(nest);
    const repeated = new Set(values.filter((value) => before.has(numberOf(value))));
    for (const value of worthKeeping(nest, repeated)) keeper.keep(before.get(numberOf(value)) as Made, { nest, value });
    for (const value of values) if (!repeated.has(value)) before.set(numberOf(value), { nest, value });
  }
  return keeper.finish();
}

/** Rewrites a kernel: each kept value gets an array. */
class Keeper {
  private readonly arrays: ArrayDeclaration[];
  private readonly arrayOf = new Map<Value, number>();
  /** Statements to add at the end of a round. */
  private readonly written = new Map<Loop, Statement[]>();
  /** Statements that replace the computation of a value. */
  private readonly read = new Map<Value, readonly Statement[]>();

  constructor(
    private readonly kernel: Kernel,
    private bytesLeft: number,
    private nextId: number,
  ) {
    this.arrays = [...kernel.arrays];
  }

  /** Keeps a value until it is needed again, if there is room. */
  keep(first: Made, again: Made): void {
    const array = this.arrayOf.get(first.value) ?? this.write(first);
    if (array === null) return;
    const { index, steps } = this.position(again.nest);
    // The read defines the same value, so its users stay as they are.
    const results = [again.value];
    this.read.set(again.value, [...steps, { kind: "read", from: "array", memory: array, index, results }]);
  }

  finish(): Kernel {
    const { kernel, arrays } = this;
    return this.arrayOf.size === 0 ? kernel : withBody({ ...kernel, arrays }, this.edited(kernel.body));
  }

  /** The array that a value is written to, where it is computed; null if it would be too long. */
  private write({ nest, value }: Made): number | null {
    const size = nest.reduce((product, { extent }) => product * extent, 1);
    const bytes = size * DTYPES[value.type].bytes;
    if (bytes > this.bytesLeft) return null;
    this.bytesLeft -= bytes;
    const array = this.arrays.push({ type: value.type, size }) - 1;
    this.arrayOf.set(value, array);
    const { index, steps } = this.position(nest);
    const loop = nest[nest.length - 1] as Loop;
    const before = this.written.get(loop) ?? [];
    this.written.set(loop, [...before, ...steps, { kind: "write", array, index, values: [value], gate: null }]);
    return array;
  }

  /** The element of an array that belongs to a round, and the statements that compute its index. */
  private position(nest: Nest): { readonly index: Value; readonly steps: readonly Statement[] } {
    const [outermost, ...inner] = nest as readonly [Loop, ...Loop[]];
    const steps: Statement[] = [];
    const compute = (op: "add" | "mul", a: Value, b: Value): Value => {
      const value: Value = { id: this.nextId++, op, type: "i32", args: [a, b], attribute: null, depth: nest.length };
      steps.push({ kind: "let", value });
      return value;
    };
    let { index } = outermost;
    for (const loop of inner) {
      const { extent } = loop;
      const rounds: Value = { id: this.nextId++, op: "constant", type: "i32", args: [], attribute: extent, depth: 0 };
      index = compute("add", compute("mul", index, rounds), loop.index);
    }
    return { index, steps };
  }

  private edited(statements: readonly Statement[]): Statement[] {
    return statements.flatMap((statement) => {
      if (statement.kind === "let") return this.read.get(statement.value) ?? statement;
      if (statement.kind !== "loop") return statement;
      return { ...statement, body: [...this.edited(statement.body), ...(this.written.get(statement) ?? [])] };
    });
  }
}

const shapeOf = (nest: Nest): string => nest.map(({ extent }) => extent).join("×");

const valuesIn = (nest: Nest): Value[] =>
  (nest[nest.length - 1] as Loop).body.flatMap((statement) => (statement.kind === "let" ? statement.value : []));

/** Loops in the order they run; none of those that stand in a branch, or in a loop that may end early. */
function nestsIn(statements: readonly Statement[], outer: Nest = []): Nest[] {
  return statements.flatMap((statement) => {
    if (statement.kind !== "loop" || statement.exit) return [];
    const nest = [...outer, statement];
    return [nest, ...nestsIn(statement.body, nest)];
  });
}

/** A number for each value, by its id: the same for values that are equal in equal rounds of loops of the same shape. */
function numbered(body: readonly Statement[]): Map<number, number> {
  const numbers = new Map<number, number>();
  const known = new Map<string, number>();
  const give = ({ id }: Value, key: string) => {
    const number = known.get(key) ?? known.size;
    known.set(key, number);
    numbers.set(id, number);
  };
  const numberOf = (value: Value): number => {
    if (!numbers.has(value.id)) give(value, value.op === "constant" ? keyOf(value) : `value ${value.id}`);
    return numbers.get(value.id) as number;
  };
  const keyOf = ({ op, type, attribute, args }: Value) =>
    `${op} ${type} ${Object.is(attribute, -0) ? "-0" : attribute} ${args.map(numberOf)}`;
  const visit = (statements: readonly Statement[], shape: string | null) => {
    for (const statement of statements) {
      if (statement.kind === "let") give(statement.value, keyOf(statement.value));
      else if (statement.kind === "loop") {
        const { index, extent, exit, accumulators } = statement;
        const inner = shape === null || exit ? null : `${shape}×${extent}`;
        give(index, inner === null ? `value ${index.id}` : `index ${inner}`);
        for (const { value, result } of accumulators) for (const each of [value, result]) numberOf(each);
        visit(statement.body, inner);
      } else if (statement.kind === "branch") {
        visit(statement.whenTrue, null);
        visit(statement.whenFalse, null);
      }
      for (const value of usedBy(statement)) numberOf(value);
    }
  };
  visit(body, "");
  return numbers;
}

/** Of the values that a loop repeats, those that it needs for something new and that took some work. */
function worthKeeping(nest: Nest, repeated: ReadonlySet<Value>): Value[] {
  if (repeated.size === 0) return [];
  const loop = nest[nest.length - 1] as Loop;
  const needed = new Set<Value>(loop.accumulators.map(({ next }) => next));
  const need = (statements: readonly Statement[]) => {
    for (const statement of statements) {
      if (statement.kind === "let" && repeated.has(statement.value)) continue;
      for (const value of usedBy(statement)) needed.add(value);
      if (statement.kind === "loop") need(statement.body);
      if (statement.kind === "branch") need([...statement.whenTrue, ...statement.whenFalse]);
    }
  };
  need(loop.body);
  const atHand = new Set<Value>();
  return [...repeated].filter((value) => {
    if (!needed.has(value)) return false;
    const work = new Set<Value>();
    const visit = (each: Value) => {
      if (!repeated.has(each) || atHand.has(each) || work.has(each)) return;
      work.add(each);
      each.args.forEach(visit);
    };
    visit(value);
    // Emitters look into the making of integers, which are indices, mostly.
    const isKept = work.size >= WORTH_KEEPING && (value.type === "f32" || value.type === "f64");
    for (const each of isKept ? [value] : work) atHand.add(each);
    return isKept;
  });
}
