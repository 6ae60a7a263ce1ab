/**
 * Every instruction as a typed method: `f.i32.add(a, b)`, `f.f32x4.mul(v, 2)`, `f.i64.atomic.rmw.add(address, 1n)`. The
 * names are the specification's, cut at the dots; operand and result types come from the tables.
 *
 * Immediates follow the operands: a lane number, then the memory access.
 *
 *     f.f32x4.extract_lane(v, 3)
 *     f.v128.load32_lane(address, v, 1, { offset: 8 })
 *     f.i8x16.shuffle(a, b, [0, 1, …])
 */
import { INSTRUCTIONS, type Instruction } from "./instructions.js";
import type { ATOMIC, BULK, LANE_LOAD, LANE_STORE, LOAD, STORE } from "./memory-table.js";
import type { Access, Recorder } from "./recorder.js";
import type { SCALAR } from "./scalar-table.js";
import { LANES, type LaneShape, type Literal, type ValueType } from "./types.js";
import type { Operand, Value } from "./value.js";
import type { LANE, RELAXED, SHUFFLE, VECTOR } from "./vector-table.js";

type Letters = { i: "i32"; l: "i64"; f: "f32"; d: "f64"; v: "v128" };

type Parameters<S> = S extends `${infer L extends keyof Letters}${infer Rest}`
  ? [Operand<Letters[L]>, ...Parameters<Rest>]
  : [];
// biome-ignore lint/suspicious/noConfusingVoidType: it is what the caller sees as the return type
type Result<S> = S extends keyof Letters ? Value<Letters[S]> : void;

/** The operands and the result of each instruction in a table, by name. */
type Signatures<T> = {
  [N in { [S in keyof T]: keyof T[S] }[keyof T]]: { [S in keyof T]: N extends keyof T[S] ? S : never }[keyof T];
};
/** Methods for a table whose instructions have the immediates `I`. */
type Methods<T, I extends unknown[]> = {
  [N in keyof Signatures<T>]: Signatures<T>[N] extends `${infer Operands}>${infer R}`
    ? (...given: [...Parameters<Operands>, ...I]) => Result<R>
    : never;
};

type AllMethods = Methods<typeof SCALAR, []> &
  Methods<typeof VECTOR, []> &
  Methods<typeof RELAXED, []> &
  Methods<typeof BULK, []> &
  Methods<typeof LANE, [lane: number]> &
  Methods<typeof SHUFFLE, [lanes: readonly number[]]> &
  Methods<typeof LOAD, [access?: Access]> &
  Methods<typeof STORE, [access?: Access]> &
  Methods<typeof ATOMIC, [access?: Access]> &
  Methods<typeof LANE_LOAD, [lane: number, access?: Access]> &
  Methods<typeof LANE_STORE, [lane: number, access?: Access]>;

/** The name of every instruction that has a method. */
type InstructionName = keyof AllMethods;

/** The first step below `P` of each name that begins with it. */
type Head<N, P extends string> = N extends `${P}.${infer Rest}`
  ? Rest extends `${infer H}.${string}`
    ? H
    : Rest
  : never;

type Tree<P extends string> = {
  readonly [H in Head<InstructionName, P>]: `${P}.${H}` extends InstructionName
    ? AllMethods[`${P}.${H}`]
    : Tree<`${P}.${H}`>;
};

type ScalarConstant<T extends ValueType> = { const(literal: Literal): Value<T> };
/** One literal for all lanes, or one for each. */
type VectorConstant = { const(lanes: Literal | readonly Literal[]): Value<"v128"> };

export interface Namespaces {
  readonly i32: Tree<"i32"> & ScalarConstant<"i32">;
  readonly i64: Tree<"i64"> & ScalarConstant<"i64">;
  readonly f32: Tree<"f32"> & ScalarConstant<"f32">;
  readonly f64: Tree<"f64"> & ScalarConstant<"f64">;
  readonly v128: Tree<"v128">;
  readonly i8x16: Tree<"i8x16"> & VectorConstant;
  readonly i16x8: Tree<"i16x8"> & VectorConstant;
  readonly i32x4: Tree<"i32x4"> & VectorConstant;
  readonly i64x2: Tree<"i64x2"> & VectorConstant;
  readonly f32x4: Tree<"f32x4"> & VectorConstant;
  readonly f64x2: Tree<"f64x2"> & VectorConstant;
  readonly memory: Tree<"memory">;
  readonly atomic: Tree<"atomic">;
}

/** A member of a namespace at run time: a method bound to the function being written. */
type Method = (...given: never[]) => unknown;
interface Branch {
  readonly methods: Map<string, (recorder: Recorder) => Method>;
  readonly branches: Map<string, Branch>;
  /** The prototype of the namespaces of all functions, made for the first one. */
  prototype: object | null;
}

const newBranch = (): Branch => ({ methods: new Map(), branches: new Map(), prototype: null });
const trunk = newBranch();

function branchFor(path: readonly string[]): Branch {
  let branch = trunk;
  for (const step of path) {
    let next = branch.branches.get(step);
    if (!next) {
      next = newBranch();
      branch.branches.set(step, next);
    }
    branch = next;
  }
  return branch;
}

function methodFor(instruction: Instruction): (recorder: Recorder) => Method {
  const arity = instruction.parameters.length;
  switch (instruction.immediates) {
    case "none":
    case "zeros":
      return (recorder) =>
        (...operands: Operand[]) =>
          recorder.plain(instruction, operands);
    case "lane":
      return (recorder) =>
        (...given: unknown[]) =>
          recorder.lanes(instruction, given.slice(0, arity) as Operand[], [given[arity] as number]);
    case "lanes":
      return (recorder) =>
        (...given: unknown[]) =>
          recorder.lanes(instruction, given.slice(0, arity) as Operand[], given[arity] as number[]);
    case "access":
      return (recorder) =>
        (...given: unknown[]) =>
          recorder.access(instruction, given.slice(0, arity) as Operand[], given[arity] as Access | undefined);
    case "access lane":
      return (recorder) =>
        (...given: unknown[]) => {
          const [lane, access] = given.slice(arity) as [number, Access | undefined];
          return recorder.access(instruction, given.slice(0, arity) as Operand[], access, lane);
        };
  }
}

for (const [name, instruction] of INSTRUCTIONS) {
  const path = name.split(".");
  branchFor(path.slice(0, -1)).methods.set(path.at(-1) as string, methodFor(instruction));
}
for (const type of ["i32", "i64", "f32", "f64"] as const) {
  branchFor([type]).methods.set("const", (recorder) => (literal: Literal) => recorder.constant(type, literal));
}
for (const shape of Object.keys(LANES) as LaneShape[]) {
  branchFor([shape]).methods.set("const", (recorder) => (lanes: Literal) => recorder.vectorConstant(shape, lanes));
}

/** An object whose members are made when first asked for: a function uses few of the hundreds there are. */
function bind(branch: Branch, recorder: Recorder): object {
  branch.prototype ??= prototypeOf(branch);
  return Object.create(branch.prototype, { recorder: { value: recorder } });
}

/** Makes members, for all functions: defining hundreds of them again for each took longer than writing a short one. */
function prototypeOf({ methods, branches }: Branch): object {
  const prototype = {};
  const define = (name: string, make: (recorder: Recorder) => unknown) => {
    Object.defineProperty(prototype, name, {
      enumerable: true,
      get(this: { readonly recorder: Recorder }) {
        const value = make(this.recorder);
        Object.defineProperty(this, name, { value, enumerable: true });
        return value;
      },
    });
  };
  for (const [name, method] of methods) define(name, method);
  for (const [name, inner] of branches) define(name, (recorder) => bind(inner, recorder));
  return prototype;
}

/** The namespace called `name` for a function being written. */
export function namespace<N extends keyof Namespaces>(name: N, recorder: Recorder): Namespaces[N] {
  return bind(branchFor([name]), recorder) as Namespaces[N];
}
