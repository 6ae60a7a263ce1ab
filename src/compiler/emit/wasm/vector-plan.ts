/** Plans the vectorisation of a kernel on the CPU: four neighbouring rows, four neighbouring rounds of loops, or none. */
import { DTYPES, type DType, isNarrowFloat } from "../../../core/dtype.js";
import { asCombineOp, reductionBy } from "../../../graph/reduction.js";
import {
  type CombineOp,
  type IRType,
  type Value as IRValue,
  type Kernel,
  type Loop,
  type Statement,
  usedBy,
  walkStatements,
} from "../../ir/ir.js";
import { isNarrowInteger } from "./narrow-integers.js";
import { isForPairs } from "./pairs.js";

type StoreStatement = Extract<Statement, { kind: "store" }>;
type ReadStatement = Extract<Statement, { kind: "read" }>;
type WriteStatement = Extract<Statement, { kind: "write" }>;

export const VECTOR_LANES = 4;

export interface VectorPlan {
  /** Four rows at once. */
  readonly isRowVector: boolean;
  /** Loops whose rounds are computed four at once. */
  readonly loops: ReadonlySet<Loop>;
}

/** The change of a value from one row, or round, to the next: a constant, 0 for none, or null if unknown. */
function stepsIn(variable: IRValue): (value: IRValue) => number | null {
  const known = new Map<IRValue, number | null>();
  const step = (value: IRValue): number | null => {
    if (value === variable || (value.op === "row" && variable.op === "row")) return 1;
    const found = known.get(value);
    if (found !== undefined) return found;
    // Values without operands do not depend on the variable, except accumulators and results, which may.
    let result: number | null = value.op === "accumulator" || value.op === "result" ? null : 0;
    if (value.args.length > 0) {
      const [a, b] = value.args;
      const [x, y] = [step(a), b ? step(b) : 0];
      if (value.args.every((arg) => step(arg) === 0)) result = 0;
      else if (value.op === "select" && value.attribute === true) result = y;
      else if (value.type !== "i32" || x === null || y === null) result = null;
      else if (value.op === "add") result = x + y;
      else if (value.op === "sub") result = x - y;
      else if (value.op === "mul" && a.op === "constant") result = y * Number(a.attribute);
      else if (value.op === "mul" && b.op === "constant") result = x * Number(b.attribute);
      else result = null;
    }
    known.set(value, result);
    return result;
  };
  return step;
}

/**
 * Vectors that a loop takes in turn, and the longest body for which that pays. Each step of a sum or an exponential waits for
 * the one before; independent vectors keep the processor busy meanwhile. On a Zen 4, exp took 1.04 ns an element one vector
 * at a time and 0.84 in four turns; tanh 2.4 and 1.5; a sine, of 200 values, 9 either way.
 */
export const TURNS = 4;
const LONG_BODY = 128;
/** Rounds of a loop from which on vectors take turns; more where statements merge them. */
export const leastTurns = ({ merge }: Loop): number => (merge ? 16 : 4) * VECTOR_LANES * TURNS;

export const canTakeTurns = (body: readonly Statement[]): boolean =>
  body.length <= LONG_BODY && body.every(({ kind }) => kind !== "loop");

export const NARROW: ReadonlySet<IRType> = new Set(["bool", "i32", "u32", "f32"]);

/** Whether four neighbours are one vector, perhaps after a few instructions that convert narrow ones, or of f64 two. */
const areVector = (dtype: DType): boolean =>
  DTYPES[dtype].bytes === 4 || dtype === "f64" || isNarrowFloat(dtype) || isNarrowInteger(dtype);

/** Numbers that a lane of a vector is loaded from, or stored to, by one instruction. */
const areWords = (dtype: DType): boolean => DTYPES[dtype].bytes === 4 || dtype === "f64";

export function planVectors(kernel: Kernel): VectorPlan {
  const loops: Loop[] = [];
  const values: IRValue[] = [];
  const stores: StoreStatement[] = [];
  const accesses: (ReadStatement | WriteStatement)[] = [];
  // Branches and ordered operations are computed one row at a time. Rows leave a loop of plain values one by one.
  let isOrdered = kernel.lanes > 1;
  walkStatements(kernel.body, (statement) => {
    if (statement.kind === "let") values.push(statement.value);
    else if (statement.kind === "store") {
      stores.push(statement);
      if (statement.gate) isOrdered = true;
    } else if (statement.kind === "loop") {
      loops.push(statement);
      if (statement.exit && statement.body.some(({ kind }) => kind !== "let")) isOrdered = true;
    } else if (statement.kind === "read" && statement.from === "array") {
      accesses.push(statement);
      values.push(...statement.results);
    } else if (statement.kind === "write" && !statement.gate) accesses.push(statement);
    else isOrdered = true;
  });
  if (kernel.lanes > 1) return { isRowVector: false, loops: new Set() };
  const isWide = values.some(({ type }) => !NARROW.has(type));
  if (isOrdered || values.some(({ type }) => type === "i64" || type === "u64")) {
    const byThemselves = loops.filter((loop) => isByItself(loop) && isWorthVectors(loop, kernel));
    return { isRowVector: false, loops: new Set(byThemselves) };
  }
  const loads = values.filter(({ op }) => op === "load");
  const sideBySide = (variable: IRValue, among: readonly IRValue[]) => {
    const step = stepsIn(variable);
    return among.filter(
      (value) => step(value.args[0]) === 1 && areVector(kernel.buffers[value.attribute as number].dtype),
    ).length;
  };
  const row: IRValue = { id: -1, op: "row", type: "i32", args: [], attribute: null, depth: 0 };
  const byRow = stepsIn(row);
  const isStoredByRow =
    stores.every(({ index, buffer }) => byRow(index) === 1 && areVector(kernel.buffers[buffer].dtype)) &&
    accesses.every(({ index }) => byRow(index) === 0) &&
    kernel.arrays.every(({ type }) => DTYPES[type].bytes === 4);
  const rowCount = sideBySide(row, loads);
  const innermost = loops.filter((loop) => loop.body.every((statement) => statement.kind !== "loop"));
  const chosen = innermost.filter(
    (loop) => loop.extent >= 2 * VECTOR_LANES && isVectorizable(loop) && (!isWide || isWorthVectors(loop, kernel)),
  );
  const loopCount = chosen.reduce((sum, loop) => sum + sideBySide(loop.index, loads), 0);
  const isWorthRows = !isWide || isWorth(row, kernel.body, kernel);
  if (isStoredByRow && isWorthRows && rowCount >= loopCount) return { isRowVector: true, loops: new Set() };
  // Loads and stores that are apart cost what they cost one row at a time: worth it beside enough arithmetic, as of small matrices.
  const isStoredApart = stores.every(
    ({ index, buffer }) => (byRow(index) ?? 0) > 0 && areWords(kernel.buffers[buffer].dtype),
  );
  const isStraight = loops.length === 0 && accesses.length === 0;
  if (isStraight && isStoredApart && isWorth(row, kernel.body, kernel)) return { isRowVector: true, loops: new Set() };
  return { isRowVector: false, loops: new Set(chosen) };
}

/** A loop of pure values, reads and plain writes, between whatever else: the kernels of chains are full of them. */
const isByItself = (loop: Loop): boolean =>
  loop.extent >= 2 * VECTOR_LANES &&
  loop.exit === null &&
  loop.body.every(
    (s) => s.kind === "let" || s.kind === "read" || ((s.kind === "write" || s.kind === "store") && !s.gate),
  ) &&
  isVectorizable(loop);

/** Scalar operations that vectors need for one that they lack, over what they save where they have it. */
const LACKING = 4;

/** Whether most of what changes from round to round has vectors. */
const isWorthVectors = (loop: Loop, kernel: Kernel): boolean => isWorth(loop.index, loop.body, kernel);

/** Whether most of what changes with a round, or a row, has vectors. */
function isWorth(variable: IRValue, body: readonly Statement[], { buffers, arrays }: Kernel): boolean {
  const step = stepsIn(variable);
  const isNeighbour = (index: IRValue, dtype: DType) => step(index) === 1 && areVector(dtype);
  let [good, bad] = [0, 0];
  const count = (isGood: boolean) => {
    if (isGood) good++;
    else bad++;
  };
  const isWord = (value: IRValue | undefined) => value?.type === "i64" || value?.type === "u64";
  let hasWords = false;
  walkStatements(body, (statement) => {
    if (statement.kind === "read") {
      const { from, memory, index } = statement;
      if (step(index) !== 0) count(isNeighbour(index, from === "array" ? arrays[memory].type : buffers[memory].dtype));
    } else if (statement.kind === "store") {
      if (!isNeighbour(statement.index, buffers[statement.buffer].dtype)) count(false);
    } else if (statement.kind === "let") {
      const { value } = statement;
      const [first] = value.args;
      if (step(value) !== null && (step(value) === 0 || value.type === "i32")) return;
      hasWords ||= isWord(value) || isWord(first);
      if (value.op === "load") count(isNeighbour(first, buffers[value.attribute as number].dtype));
      else count(isForPairs(value) || isForLanes(value));
    }
  });
  return !hasWords && good >= LACKING * bad;
}

/** Operations on 32 bits that vectors have. */
const isForLanes = ({ op, type, args }: IRValue): boolean =>
  [type, ...args.map((arg) => arg.type)].every((each) => NARROW.has(each)) &&
  op !== "idiv" &&
  op !== "irem" &&
  (op !== "shl" && op !== "shr" ? true : args[1].op === "constant");

/** The operation that combines an accumulator with something else, if partial results combine with it too. */
export function combiningOp({ value, next }: Loop["accumulators"][number]): CombineOp | null {
  return next.args.filter((arg) => arg === value).length === 1 ? asCombineOp(next.op) : null;
}

/** An index as a sum: a constant, and values by how often they count. */
interface Linear {
  constant: number;
  readonly factors: Map<IRValue, number>;
}

function linear(index: IRValue, factor = 1, into: Linear = { constant: 0, factors: new Map() }): Linear {
  const { op, args, attribute } = index;
  const [a, b] = args;
  if (op === "constant") into.constant += factor * Number(attribute);
  else if (op === "add" || op === "sub") {
    linear(a, factor, into);
    linear(b, op === "add" ? factor : -factor, into);
  } else if (op === "mul" && b.op === "constant") linear(a, factor * Number(b.attribute), into);
  else into.factors.set(index, (into.factors.get(index) ?? 0) + factor);
  return into;
}

/** Rounds of a loop that are computed together: those of a vector or, where vectors take turns, of all of these. */
const togetherIn = (loop: Loop): number =>
  canTakeTurns(loop.body) && loop.extent >= leastTurns(loop) ? VECTOR_LANES * TURNS : VECTOR_LANES;

/**
 * Whether rounds that are computed together, which read before they write, read what they would one by one: no round writes
 * where another of them reads later. The distance is known up to multiples of a step.
 */
function isApart(read: IRValue, written: IRValue, together: number): boolean {
  const { constant, factors } = linear(read, -1, linear(written));
  const divisor = (a: number, b: number): number => (b === 0 ? Math.abs(a) : divisor(b, a % b));
  const step = [...factors.values()].reduce(divisor, 0);
  const distance = step === 0 ? constant : ((constant % step) + step) % step;
  if (step === 0) return distance <= 0 || distance >= together;
  return step >= together && (distance === 0 || (distance >= together && distance <= step));
}

/** Whether two places that a round writes lie a known distance apart, farther than rounds that are computed together reach. */
function isFar(one: IRValue, other: IRValue): boolean {
  const { constant, factors } = linear(one, -1, linear(other));
  return [...factors.values()].every((factor) => factor === 0) && Math.abs(constant) >= VECTOR_LANES * TURNS;
}

function isVectorizable(loop: Loop): boolean {
  const { merge } = loop;
  // Lanes are merged by statements, which know where parts begin.
  const isMerged = merge?.body.every(({ kind }) => kind === "let") === true;
  const combines =
    isMerged ||
    loop.accumulators.every((accumulator) => {
      const op = combiningOp(accumulator);
      const { initial } = accumulator;
      // Four lanes start from it instead of one, so it must be what changes nothing.
      return op !== null && initial.op === "constant" && initial.attribute === reductionBy(op).identity(initial.type);
    });
  // An accumulator may only feed its next value: a lane does not know the other lanes' part.
  const isPrivate =
    isMerged ||
    loop.accumulators.every(({ value, next }) =>
      loop.body.every((s) => {
        if (s.kind === "let")
          return !s.value.args.includes(next) && (s.value === next || !s.value.args.includes(value));
        const isOwn = (used: IRValue) => used === next || used === value;
        return (s.kind !== "store" && s.kind !== "write") || !usedBy(s).some(isOwn);
      }),
    );
  const step = stepsIn(loop.index);
  const stores = loop.body.every((s) => (s.kind !== "store" && s.kind !== "write") || step(s.index) === 1);
  // Rounds computed together do not see each other's writes; a round may read what it writes over, or what is far away.
  const memoryOf = (from: "buffer" | "array", memory: number) => `${from} ${memory}`;
  const together = togetherIn(loop);
  const written = new Map<string, IRValue[]>();
  for (const s of loop.body) {
    if (s.kind !== "write" && s.kind !== "store") continue;
    const memory = s.kind === "write" ? memoryOf("array", s.array) : memoryOf("buffer", s.buffer);
    const others = written.get(memory) ?? [];
    if (!others.every((at) => at === s.index || isFar(at, s.index))) return false;
    written.set(memory, [...others, s.index]);
  }
  const isUnread = loop.body.every((s) => {
    const places = (s.kind === "read" && written.get(memoryOf(s.from, s.memory))) || [];
    return places.every((at) => s.kind === "read" && s.results.length === 1 && isApart(s.index, at, together));
  });
  return combines && isPrivate && stores && isUnread;
}
