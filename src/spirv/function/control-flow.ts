/**
 * Structured control flow by construction: branches and loops are closures, so merge blocks, continue targets and the
 * order of blocks are right whatever the kernel does inside.
 *
 * Values leave a branch or a loop as the closure's return value (OpPhi), or through a variable:
 *
 *     const y = f.if(f.less(x, 0), () => f.neg(x), () => x);
 *     const sum = f.fold(0, n, 1, zero, (i, sum) => f.add(sum, a.load(i)));
 *
 * Nesting of closures is the only recursion: a straight run of any length is a flat run of words.
 */
import { ArgumentError } from "../../core/errors.js";
import { LoopControl, Op, SelectionControl } from "../enumerants.js";
import { arithmeticCapabilities } from "../module/capabilities.js";
import { encodeLiteral } from "../module/constants.js";
import type { Type } from "../module/types.js";
import { Composites } from "./composites.js";
import { type Operand, Value } from "./value.js";

/** The return value of a branch's closure: nothing, one value, or several. */
/** The values that a branch passes on: none, one or several. */
// biome-ignore lint/suspicious/noConfusingVoidType: a closure without a return statement is the common case
export type Yield = void | Operand | readonly Operand[];

/** The results of the branch: a value for each operand its closures return. */
export type Yielded<T extends Yield> = T extends Operand
  ? Value
  : T extends readonly Operand[]
    ? { -readonly [K in keyof T]: Value }
    : undefined;

/** Hints for a loop. */
export interface LoopOptions {
  /** True asks the driver to unroll, false not to; by default it decides. */
  readonly unroll?: boolean;
}

/** Hints for a branch. */
export interface BranchOptions {
  /** True asks the driver to run both sides without a jump, false to jump; by default it decides. */
  readonly flatten?: boolean;
}

type CaseLabel = number | bigint | readonly (number | bigint)[];

/** An edge into a block: the block it leaves, and the values it brings. */
interface Edge {
  readonly from: number;
  readonly values: readonly Value[];
}

/** The end of one branch that reaches the merge block, with the values its closure returned. */
interface Arm {
  readonly from: number;
  readonly values: readonly Operand[];
  readonly isList: boolean;
}

interface Loop {
  readonly merge: number;
  readonly next: number;
  /** The loop's state at the start of the iteration. */
  readonly state: readonly Value[];
  readonly exits: Edge[];
  readonly continues: Edge[];
}

interface LoopPlan {
  readonly initial: readonly Value[];
  readonly counter?: { readonly start: Value; readonly step: Value };
  readonly condition?: (state: Value[], counter: Value) => Operand;
  readonly body: (state: Value[], counter: Value) => Yield;
  readonly options?: LoopOptions | undefined;
}

export class ControlFlow extends Composites {
  private readonly loops: Loop[] = [];

  if(condition: Operand, then: () => unknown): void;
  if<const T extends Yield>(
    condition: Operand,
    then: () => T,
    otherwise: () => Yield,
    options?: BranchOptions,
  ): Yielded<T>;
  if(condition: Operand, then: () => unknown, otherwise?: () => Yield, options?: BranchOptions): unknown {
    const test = this.as(condition, this.module.bool, "if condition");
    const thenLabel = this.sections.newId();
    const elseLabel = otherwise ? this.sections.newId() : 0;
    const merge = this.sections.newId();
    this.emitVoid(Op.SelectionMerge, [merge, selectionControl(options)]);
    this.emitVoid(Op.BranchConditional, [test, thenLabel, elseLabel || merge]);
    if (!otherwise) {
      this.arm(thenLabel, merge, () => {
        then();
      });
      this.openBlock(merge);
      return undefined;
    }
    // The overloads hold `then` to a Yield whenever there is an `otherwise`.
    const arms = [this.arm(thenLabel, merge, then as () => Yield), this.arm(elseLabel, merge, otherwise)];
    return this.join(merge, arms, "if");
  }

  /** Runs the case whose label equals the selector, and no other: there is no falling through. */
  switch<const T extends Yield>(
    selector: Value,
    cases: readonly (readonly [label: CaseLabel, run: () => T])[],
    otherwise?: () => Yield,
  ): Yielded<T>;
  switch(
    selector: Value,
    cases: readonly (readonly [label: CaseLabel, run: () => Yield])[],
    otherwise?: () => Yield,
  ): unknown {
    const { type } = selector;
    if (type.kind !== "int") throw new ArgumentError(`switch (OpSwitch): the selector is ${type.name}, not an integer`);
    const merge = this.sections.newId();
    const fallback = otherwise ? this.sections.newId() : merge;
    const targets: number[] = [];
    const seen = new Set<bigint>();
    const blocks = cases.map(([label]) => {
      const block = this.sections.newId();
      const literals = typeof label === "object" ? label : [label];
      for (const literal of literals) {
        if (seen.has(BigInt(literal))) throw new ArgumentError(`switch: two cases for ${literal}`);
        seen.add(BigInt(literal));
        const [low, high] = encodeLiteral(type, literal);
        targets.push(low, ...(type.width === 64 ? [high] : []), block);
      }
      return block;
    });
    const header = this.block;
    this.emitVoid(Op.SelectionMerge, [merge, SelectionControl.None]);
    this.emitVoid(Op.Switch, [selector, fallback, ...targets]);
    const arms = cases.map(([, run], i) => this.arm(blocks[i], merge, run));
    if (otherwise) arms.push(this.arm(fallback, merge, otherwise));
    else arms.push({ from: header, values: [], isList: false });
    return this.join(merge, arms, "switch");
  }

  /** Counts from `start` up to, not including, `end` (down to it when `step` is a negative literal). */
  for(start: Operand, end: Operand, step: Operand, body: (i: Value) => void, options?: LoopOptions): void {
    this.count("for", start, end, step, [], (_state, i) => void body(i), options);
  }

  /** A counted loop that carries state: the body takes it and returns it for the next round; the last is the result. */
  fold(
    start: Operand,
    end: Operand,
    step: Operand,
    initial: Operand,
    body: (i: Value, state: Value) => Yield,
    options?: LoopOptions,
  ): Value;
  fold<const T extends readonly Operand[]>(
    start: Operand,
    end: Operand,
    step: Operand,
    initial: T,
    body: (i: Value, state: { -readonly [K in keyof T]: Value }) => Yield,
    options?: LoopOptions,
  ): { -readonly [K in keyof T]: Value };
  fold(
    start: Operand,
    end: Operand,
    step: Operand,
    initial: Operand | readonly Operand[],
    // biome-ignore lint/suspicious/noExplicitAny: the overloads type it; one value and several differ only in shape
    body: (i: Value, state: any) => Yield,
    options?: LoopOptions,
  ): Value | Value[] {
    const single = !isList(initial);
    const carried = this.carried(initial, "fold");
    const run = (state: Value[], i: Value) => body(i, single ? state[0] : state);
    const result = this.count("fold", start, end, step, carried, run, options);
    return single ? result[0] : result;
  }

  /** Repeats while the condition, evaluated before each round, holds. */
  while(condition: () => Operand, body: () => void, options?: LoopOptions): void {
    this.repeat({ initial: [], condition, body: () => void body(), options });
  }

  /** `while` with state that the condition and the body take and the body returns. */
  iterate(
    initial: Operand,
    condition: (state: Value) => Operand,
    body: (state: Value) => Yield,
    options?: LoopOptions,
  ): Value;
  iterate<const T extends readonly Operand[]>(
    initial: T,
    condition: (state: { -readonly [K in keyof T]: Value }) => Operand,
    body: (state: { -readonly [K in keyof T]: Value }) => Yield,
    options?: LoopOptions,
  ): { -readonly [K in keyof T]: Value };
  iterate(
    initial: Operand | readonly Operand[],
    // biome-ignore lint/suspicious/noExplicitAny: as in fold
    condition: (state: any) => Operand,
    // biome-ignore lint/suspicious/noExplicitAny: as in fold
    body: (state: any) => Yield,
    options?: LoopOptions,
  ): Value | Value[] {
    const single = !isList(initial);
    const shape = (state: Value[]) => (single ? state[0] : state);
    const result = this.repeat({
      initial: this.carried(initial, "iterate"),
      condition: (state) => condition(shape(state)),
      body: (state) => body(shape(state)),
      options,
    });
    return single ? result[0] : result;
  }

  /** Repeats until the body breaks or returns. */
  loop(body: () => void, options?: LoopOptions): void {
    this.repeat({ initial: [], body: () => void body(), options });
  }

  /** Leaves the innermost loop, with the given state or the state the round began with. */
  break(...state: readonly Operand[]): void {
    const loop = this.innermost("break");
    this.jump(loop.merge, loop.exits, loop, state, "break");
  }

  /** Goes on with the next round of the innermost loop. */
  continue(...state: readonly Operand[]): void {
    const loop = this.innermost("continue");
    this.jump(loop.next, loop.continues, loop, state, "continue");
  }

  breakIf(condition: Operand): void {
    this.if(condition, () => this.break());
  }

  continueIf(condition: Operand): void {
    this.if(condition, () => this.continue());
  }

  /** True when the next instruction would never run: the path here ends in a return, break or continue. */
  get isTerminated(): boolean {
    return this.block === 0;
  }

  private count(
    what: string,
    start: Operand,
    end: Operand,
    step: Operand,
    initial: readonly Value[],
    body: (state: Value[], i: Value) => Yield,
    options: LoopOptions | undefined,
  ): Value[] {
    const type = this.counterType(what, start, end, step);
    const limit = this.as(end, type, `${what} end`);
    const down = isNegative(step);
    if (!(step instanceof Value) && Number(step) === 0) throw new ArgumentError(`${what}: a step of 0 never ends`);
    return this.repeat({
      initial,
      counter: { start: this.as(start, type, `${what} start`), step: this.as(step, type, `${what} step`) },
      condition: (_state, i) => (down ? this.greater(i, limit) : this.less(i, limit)),
      body,
      options,
    });
  }

  /** The type of the first value among the bounds; for literals alone u32, or i32 when one is negative. */
  private counterType(what: string, ...bounds: readonly Operand[]): Type {
    const typed = bounds.find((bound) => bound instanceof Value);
    if (typed) {
      if (typed.type.kind === "int") return typed.type;
      throw new ArgumentError(`${what}: counts in integers, got a bound of type ${typed.type.name}`);
    }
    return bounds.some(isNegative) ? this.module.i32 : this.module.u32;
  }

  private repeat(plan: LoopPlan): Value[] {
    const { sections } = this;
    const [header, check, start, next, merge] = [0, 0, 0, 0, 0].map(() => sections.newId());
    const before = this.block;
    this.emitVoid(Op.Branch, [header]);
    const exits: Edge[] = [];
    this.within(() => {
      this.openBlock(header);
      const carry = (first: Value) => {
        const following = sections.newId();
        return { following, value: this.phi(first.type, [first.id, before, following, next]) };
      };
      const carried = plan.initial.map(carry);
      const counter = plan.counter && carry(plan.counter.start);
      const state = carried.map((c) => c.value);
      const loop: Loop = { merge, next, state, exits, continues: [] };
      this.emitVoid(Op.LoopMerge, [merge, next, loopControl(plan.options)]);
      // A plan without a counter has closures that ignore it.
      const i = counter?.value ?? (undefined as unknown as Value);

      if (plan.condition) {
        this.emitVoid(Op.Branch, [check]);
        this.openBlock(check);
        const test = this.as(plan.condition(state, i), this.module.bool, "loop condition");
        exits.push({ from: this.block, values: state });
        this.emitVoid(Op.BranchConditional, [test, start, merge]);
      } else {
        this.emitVoid(Op.Branch, [start]);
      }

      this.openBlock(start);
      this.loops.push(loop);
      try {
        const outcome = listOf(plan.body(state, i));
        if (this.block !== 0) {
          if (outcome.length === 0 && state.length > 0) {
            throw new ArgumentError(`the loop carries ${state.length} values, but its body returns none`);
          }
          this.jump(next, loop.continues, loop, outcome, "the loop body");
        }
      } finally {
        this.loops.pop();
      }

      this.openBlock(next);
      carried.forEach(({ following, value }, k) => {
        const incoming = loop.continues.flatMap((edge) => [edge.values[k].id, edge.from]);
        // No path goes round again, but the header needs a value for the back edge.
        if (incoming.length === 0) this.out.op2(Op.Undef, value.type.id, following);
        else this.phi(value.type, incoming, following);
      });
      if (counter && plan.counter) {
        const step = this.use(plan.counter.step, Op.IAdd);
        this.out.op4(Op.IAdd, counter.value.type.id, counter.following, counter.value.id, step);
      }
      this.emitVoid(Op.Branch, [header]);
    });
    return this.merge(merge, exits);
  }

  private jump(target: number, edges: Edge[], loop: Loop, state: readonly Operand[], what: string): void {
    const given = state.length === 0 ? loop.state : state;
    if (given.length !== loop.state.length) {
      throw new ArgumentError(`${what} passes ${given.length} values; the loop carries ${loop.state.length}`);
    }
    const values = given.map((value, k) => this.as(value, loop.state[k].type, `${what}, value ${k}`));
    for (const value of values) this.use(value, Op.Phi);
    edges.push({ from: this.block, values });
    this.emitVoid(Op.Branch, [target]);
    this.block = 0;
  }

  private innermost(what: string): Loop {
    const loop = this.loops[this.loops.length - 1];
    if (!loop) throw new ArgumentError(`${what} outside a loop`);
    return loop;
  }

  private carried(initial: Operand | readonly Operand[], what: string): Value[] {
    const values = listOf(initial).map((operand) => this.value(operand, `${what}, initial state`));
    for (const value of values) this.use(value, Op.Phi);
    return values;
  }

  /** Writes one arm of a branch; undefined when it does not reach the merge block. */
  private arm(label: number, merge: number, run: () => Yield): Arm | undefined {
    this.openBlock(label);
    return this.within(() => {
      const outcome = run();
      const values = listOf(outcome);
      if (this.block === 0) return undefined;
      for (const value of values) if (value instanceof Value) this.use(value, Op.Phi);
      const from = this.block;
      this.emitVoid(Op.Branch, [merge]);
      this.block = 0;
      return { from, values, isList: isList(outcome) };
    });
  }

  /** Opens the merge block and joins the values that the arms yield. */
  private join(merge: number, arms: readonly (Arm | undefined)[], what: string): Yield {
    const reaching = arms.filter((arm) => arm !== undefined);
    const count = reaching[0]?.values.length ?? 0;
    const odd = reaching.find((arm) => arm.values.length !== count);
    if (odd) {
      throw new ArgumentError(
        `${what}: its branches yield ${count} and ${odd.values.length} values; each must yield as many, or none at all`,
      );
    }
    const edges = reaching.map(({ from }): { from: number; values: Value[] } => ({ from, values: [] }));
    for (let k = 0; k < count; k++) {
      const typed = reaching.map((arm) => arm.values[k]).find((value) => value instanceof Value);
      const { type } = this.value(typed ?? reaching[0].values[k], `${what}, value ${k}`);
      reaching.forEach((arm, i) => {
        edges[i].values.push(this.as(arm.values[k], type, `${what}, value ${k}`));
      });
    }
    const values = this.merge(merge, edges);
    return reaching.some((arm) => arm.isList) ? values : values[0];
  }

  /** Opens a block and joins the values of its edges; a block without edges is unreachable. */
  private merge(label: number, edges: readonly Edge[]): Value[] {
    this.openBlock(label);
    if (edges.length === 0) {
      this.out.op0(Op.Unreachable);
      this.block = 0;
      return [];
    }
    return edges[0].values.map((value, k) => {
      // From a single edge the value itself dominates this block.
      if (edges.length === 1) return new Value(value.id, value.type, this.region);
      return this.phi(
        value.type,
        edges.flatMap((edge) => [edge.values[k].id, edge.from]),
      );
    });
  }

  private phi(type: Type, incoming: readonly number[], id = this.sections.newId()): Value {
    if (type.contents !== 0) this.sections.requireAll(arithmeticCapabilities(type));
    const mark = this.out.open(Op.Phi);
    this.out.push(type.id);
    this.out.push(id);
    for (const word of incoming) this.out.push(word);
    this.out.close(mark);
    return new Value(id, type, this.region);
  }

  private openBlock(label: number): void {
    this.out.op1(Op.Label, label);
    this.block = label;
  }
}

function isList(value: Yield): value is readonly Operand[] {
  return Array.isArray(value);
}

function listOf(value: Yield): readonly Operand[] {
  if (value === undefined) return [];
  return isList(value) ? value : [value];
}

function isNegative(operand: Operand): boolean {
  return !(operand instanceof Value) && Number(operand) < 0;
}

function loopControl(options: LoopOptions | undefined): number {
  if (options?.unroll === undefined) return LoopControl.None;
  return options.unroll ? LoopControl.Unroll : LoopControl.DontUnroll;
}

function selectionControl(options: BranchOptions | undefined): number {
  if (options?.flatten === undefined) return SelectionControl.None;
  return options.flatten ? SelectionControl.Flatten : SelectionControl.DontFlatten;
}
