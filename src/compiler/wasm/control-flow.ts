/**
 * Structured control flow: branches and loops are closures, as in the SPIR-V builder, so the nesting of blocks and the
 * depths of jumps are right whatever the kernel does inside.
 *
 * Values come out of a branch or a loop as what its closure returns, or through a variable, as the kernel likes:
 *
 *     const y = f.if(f.f32.lt(x, 0), () => f.f32.neg(x), () => x);
 *     const sum = f.fold(0, n, 1, f.f32.const(0), (i, sum) => f.f32.add(sum, f.f32.load(f.i32.shl(i, 2))));
 *
 * Nesting of closures is the only recursion: a straight run of any length is a flat list of nodes.
 */
import { ArgumentError } from "../../core/errors.js";
import { Recorder } from "./recorder.js";
import type { Literal, ValueType } from "./types.js";
import { type Construct, type Loop, Node, type Operand, type Place, type Scope, type Value } from "./value.js";

/** What the closure of a branch may return: nothing, one value, or several. */
// biome-ignore lint/suspicious/noConfusingVoidType: a closure without a return statement is the common case
export type Yield = void | Operand | readonly Operand[];

/** What the branch then yields: a value for each operand its closures return. */
export type Yielded<T extends Yield> = T extends Operand
  ? Like<T>
  : T extends readonly Operand[]
    ? { -readonly [K in keyof T]: Like<T[K]> }
    : void;

/** A value of the operand's type, where it is known; a literal takes that of the other branch. */
type Like<T> = T extends Value<infer U> ? Value<U> : Value;

export interface LoopOptions {
  /** Compare the counter as an unsigned number, as for addresses. Signed unless told. */
  readonly unsigned?: boolean;
}

type CaseLabel = number | readonly number[];

/** The end of one branch that reaches the end of the whole, with what its closure returned. */
interface Arm {
  /** The places written to at its end, filled in once the types are known, and what is written there. */
  readonly places: Place[];
  readonly values: Operand[];
  readonly isList: boolean;
}

/** An open loop: where `break` and `continue` go, and the places that hold what it carries. */
interface OpenLoop {
  readonly exit: Construct;
  readonly next: Construct;
  readonly state: readonly Place[];
  isLeft: boolean;
}

/** Spans of labels up to this many per case become a jump table. */
const TABLE_SPARSENESS = 4;

export class ControlFlow extends Recorder {
  private readonly loops: OpenLoop[] = [];

  if(condition: Operand<"i32">, then: () => unknown): void;
  if<const T extends Yield>(condition: Operand<"i32">, then: () => T, otherwise: () => Yield): Yielded<T>;
  if(condition: Operand<"i32">, then: () => unknown, otherwise?: () => Yield): unknown {
    const construct = newConstruct("if");
    this.record("none", { kind: "enter", construct }, [this.as(condition, "i32", "if condition")]);
    if (!otherwise) {
      this.arm(construct, "end", () => {
        then();
      });
      this.terminated = false;
      return undefined;
    }
    // The overloads hold `then` to a Yield whenever there is an `otherwise`.
    const arms = [this.arm(construct, "else", then as () => Yield), this.arm(construct, "end", otherwise)];
    return this.join(arms, "if");
  }

  /** Runs the case whose label equals the selector, and no other: there is no falling through. */
  switch<const T extends Yield>(
    selector: Value<"i32">,
    cases: readonly (readonly [label: CaseLabel, run: () => T | Literal])[],
    otherwise?: () => Yield,
  ): Yielded<T>;
  switch(
    selector: Value<"i32">,
    cases: readonly (readonly [label: CaseLabel, run: () => Yield])[],
    otherwise?: () => Yield,
  ): unknown {
    const merge = newConstruct("block");
    const fallback = newConstruct("block");
    const blocks = cases.map(() => newConstruct("block"));
    const targets = new Map<number, Construct>();
    cases.forEach(([label, _run], i) => {
      for (const number of typeof label === "number" ? [label] : label) {
        if (!Number.isInteger(number)) throw new ArgumentError(`switch: ${number} is not an integer`);
        if (targets.has(number | 0)) throw new ArgumentError(`switch: two cases for ${number}`);
        targets.set(number | 0, blocks[i] as Construct);
      }
    });
    for (const construct of [merge, fallback, ...[...blocks].reverse()]) {
      this.record("none", { kind: "enter", construct });
    }
    this.dispatch(this.as(selector, "i32", "switch selector") as Value<"i32">, targets, fallback);
    const arms: (Arm | undefined)[] = cases.map(([_label, run], i) => {
      this.end(blocks[i] as Construct);
      return this.body(run, merge);
    });
    this.end(fallback);
    this.terminated = false;
    if (otherwise) arms.push(this.body(otherwise, undefined));
    else arms.push({ places: [], values: [], isList: false });
    this.end(merge);
    return this.join(arms, "switch");
  }

  /**
   * Counts from `start` up to, not including, `end` (down to it when `step` is a negative literal). The bounds and the
   * step are computed once, before. `end` plus `step` must not overflow the counter.
   */
  for<T extends "i32" | "i64" = "i32">(
    start: Operand<T>,
    end: Operand<T>,
    step: Operand<T>,
    body: (i: Value<T>) => void,
    options?: LoopOptions,
  ): void {
    this.count("for", start, end, step, [], (_state, i) => void body(i as Value<T>), options);
  }

  /** A counted loop that carries state: the body takes it and returns it for the next round; the last is the result. */
  fold<S extends ValueType, T extends "i32" | "i64" = "i32">(
    start: Operand<T>,
    end: Operand<T>,
    step: Operand<T>,
    initial: Value<S>,
    body: (i: Value<T>, state: Value<S>) => Yield,
    options?: LoopOptions,
  ): Value<S>;
  fold<const S extends readonly Value[], T extends "i32" | "i64" = "i32">(
    start: Operand<T>,
    end: Operand<T>,
    step: Operand<T>,
    initial: S,
    body: (i: Value<T>, state: { -readonly [K in keyof S]: Like<S[K]> }) => Yield,
    options?: LoopOptions,
  ): { -readonly [K in keyof S]: Like<S[K]> };
  fold(
    start: Operand,
    end: Operand,
    step: Operand,
    initial: Value | readonly Value[],
    // biome-ignore lint/suspicious/noExplicitAny: the overloads type it; one value and several differ only in shape
    body: (i: any, state: any) => Yield,
    options?: LoopOptions,
  ): Value | Value[] {
    const isList = !(initial instanceof Node);
    const run = (state: Value[], i: Value) => body(i, isList ? state : state[0]);
    const result = this.count("fold", start, end, step, isList ? initial : [initial], run, options);
    return isList ? result : (result[0] as Value);
  }

  /** Repeats while the condition, evaluated before each round, holds. */
  while(condition: () => Operand<"i32">, body: () => void): void {
    this.repeat([], condition, () => void body());
  }

  /** `while` with state that the condition and the body take and the body returns. */
  iterate<S extends ValueType>(
    initial: Value<S>,
    condition: (state: Value<S>) => Operand<"i32">,
    body: (state: Value<S>) => Yield,
  ): Value<S>;
  iterate<const S extends readonly Value[]>(
    initial: S,
    condition: (state: { -readonly [K in keyof S]: Like<S[K]> }) => Operand<"i32">,
    body: (state: { -readonly [K in keyof S]: Like<S[K]> }) => Yield,
  ): { -readonly [K in keyof S]: Like<S[K]> };
  iterate(
    initial: Value | readonly Value[],
    // biome-ignore lint/suspicious/noExplicitAny: as in fold
    condition: (state: any) => Operand<"i32">,
    // biome-ignore lint/suspicious/noExplicitAny: as in fold
    body: (state: any) => Yield,
  ): Value | Value[] {
    const isList = !(initial instanceof Node);
    const shape = (state: Value[]) => (isList ? state : state[0]);
    const result = this.repeat(
      isList ? initial : [initial],
      (state) => condition(shape(state)),
      (state) => body(shape(state)),
    );
    return isList ? result : (result[0] as Value);
  }

  /** Repeats until the body breaks or returns. */
  loop(body: () => void): void {
    this.repeat([], undefined, () => void body());
  }

  /** Leaves the innermost loop, with the given state or the state the round began with. */
  break(...state: readonly Operand[]): void {
    const loop = this.innermost("break");
    loop.isLeft = true;
    this.jump(loop.exit, loop, state, "break");
  }

  /** Goes on with the next round of the innermost loop. */
  continue(...state: readonly Operand[]): void {
    const loop = this.innermost("continue");
    this.jump(loop.next, loop, state, "continue");
  }

  breakIf(condition: Operand<"i32">): void {
    const { exit } = this.innermost("breakIf");
    this.branchIf(exit, this.as(condition, "i32", "breakIf") as Value<"i32">);
    this.innermost("breakIf").isLeft = true;
  }

  continueIf(condition: Operand<"i32">): void {
    const { next } = this.innermost("continueIf");
    this.branchIf(next, this.as(condition, "i32", "continueIf") as Value<"i32">);
  }

  /** Traps. */
  unreachable(): void {
    this.record("none", { kind: "unreachable" });
    this.terminated = true;
  }

  /**
   * A counted loop is tested at its end, behind a test of its own for "not even once": one jump per round. That test is
   * left out when both bounds are literals.
   */
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
    const first = this.as(start, type, `${what} start`);
    const limit = this.as(end, type, `${what} end`);
    const stride = this.as(step, type, `${what} step`);
    if (!(step instanceof Node) && Number(step) === 0) throw new ArgumentError(`${what}: a step of 0 never ends`);
    const isDown = !(step instanceof Node) && Number(step) < 0;
    const compare = `${type}.${isDown ? "gt" : "lt"}_${options?.unsigned ? "u" : "s"}`;
    const places = this.carry(initial, what);
    const isEmpty = isNeverEntered(first, limit, isDown, options);
    if (isEmpty) return places.map((place) => this.local(place));

    const exit = newConstruct(isEmpty === undefined ? "if" : "block");
    const guard = isEmpty === undefined ? [this.op(compare, first as Value, limit as Value)] : [];
    this.record("none", { kind: "enter", construct: exit }, guard);
    const whole = this.open();
    const counter = this.place(type);
    this.assign([counter], [first]);
    const head = newConstruct("loop");
    const next = newConstruct("block");
    const loop = this.openLoop(head);
    this.record("none", { kind: "enter", construct: next });
    const entered: OpenLoop = { exit, next, state: places, isLeft: true };
    this.round(entered, (state) => body(state, this.local(counter)));
    this.end(next);
    this.terminated = false;
    const following = this.op(`${type}.add`, this.local(counter), stride as Value);
    this.assign([counter], [following]);
    this.branchIf(head, this.op(compare, this.local(counter), limit as Value) as Value<"i32">);
    this.closeLoop(head, loop);
    this.close(whole);
    this.end(exit, whole);
    return places.map((place) => this.local(place));
  }

  private repeat(
    initial: readonly Value[],
    condition: ((state: Value[]) => Operand<"i32">) | undefined,
    body: (state: Value[]) => Yield,
  ): Value[] {
    const places = this.carry(initial, "loop");
    const exit = newConstruct("block");
    const head = newConstruct("loop");
    this.record("none", { kind: "enter", construct: exit });
    const loop = this.openLoop(head);
    const entered: OpenLoop = { exit, next: head, state: places, isLeft: condition !== undefined };
    if (condition) {
      const test = this.as(condition(places.map((place) => this.local(place))), "i32", "loop condition");
      this.branchIf(exit, this.op("i32.eqz", test as Value) as Value<"i32">);
    }
    this.round(entered, body);
    if (!this.terminated) {
      head.isTargeted = true;
      this.record("none", { kind: "branch", target: head });
    }
    this.closeLoop(head, loop);
    this.end(exit);
    this.terminated = !entered.isLeft;
    return places.map((place) => this.local(place));
  }

  /** One round: runs the body and carries over what it returns. */
  private round(loop: OpenLoop, body: (state: Value[]) => Yield): void {
    this.loops.push(loop);
    try {
      const outcome = listOf(body(loop.state.map((place) => this.local(place))));
      if (this.terminated) return;
      if (outcome.length === 0 && loop.state.length > 0) {
        throw new ArgumentError(`the loop carries ${loop.state.length} values, but its body returns none`);
      }
      this.carryOver(loop, outcome, "the loop body");
    } finally {
      this.loops.pop();
    }
  }

  private jump(target: Construct, loop: OpenLoop, state: readonly Operand[], what: string): void {
    if (state.length > 0) this.carryOver(loop, state, what);
    target.isTargeted = true;
    this.record("none", { kind: "branch", target });
    this.terminated = true;
  }

  private carryOver({ state }: OpenLoop, given: readonly Operand[], what: string): void {
    if (given.length !== state.length) {
      throw new ArgumentError(`${what} passes ${given.length} values; the loop carries ${state.length}`);
    }
    const values = given.map((value, k) => this.as(value, (state[k] as Place).type, `${what}, value ${k + 1}`));
    const changed = state.map((_, k) => k).filter((k) => !isPlace(values[k] as Node, state[k] as Place));
    if (changed.length === 0) return;
    this.assign(
      changed.map((k) => state[k] as Place),
      changed.map((k) => values[k] as Node),
    );
  }

  private branchIf(target: Construct, condition: Value<"i32">): void {
    target.isTargeted = true;
    this.record("none", { kind: "branchIf", target }, [condition]);
  }

  /** Jumps by the selector: through a table where the labels are dense, else one comparison after the other. */
  private dispatch(selector: Value<"i32">, targets: ReadonlyMap<number, Construct>, fallback: Construct): void {
    const labels = [...targets.keys()].sort((a, b) => a - b);
    const [lowest, highest] = [labels[0] ?? 0, labels.at(-1) ?? -1];
    const span = highest - lowest + 1;
    fallback.isTargeted = true;
    if (span > 16 + TABLE_SPARSENESS * labels.length) {
      for (const label of labels) {
        const isCase = this.op("i32.eq", selector, label) as Value<"i32">;
        this.branchIf(targets.get(label) as Construct, isCase);
      }
      this.record("none", { kind: "branch", target: fallback });
    } else {
      for (const construct of targets.values()) construct.isTargeted = true;
      const table = Array.from({ length: span }, (_, i) => targets.get(lowest + i) ?? fallback);
      const index = lowest === 0 ? selector : this.op("i32.sub", selector, lowest);
      this.record("none", { kind: "branchTable", targets: table, otherwise: fallback }, [index]);
    }
    this.terminated = true;
  }

  private innermost(what: string): OpenLoop {
    const loop = this.loops[this.loops.length - 1];
    if (!loop) throw new ArgumentError(`${what} outside a loop`);
    return loop;
  }

  /** Places for what a loop carries, holding the initial values. */
  private carry(initial: readonly Value[], what: string): Place[] {
    const values = initial.map((operand) => this.value(operand, `${what}, initial state`));
    const places = values.map((value) => this.place(value.type));
    if (places.length > 0) this.assign(places, values);
    return places;
  }

  /** One side of an `if`: its closure, and the mark that ends it. */
  private arm(construct: Construct, mark: "else" | "end", run: () => Yield): Arm | undefined {
    const scope = this.open();
    const arm = this.yields(run);
    this.close(scope);
    this.terminated = false;
    this.record("none", { kind: mark, construct, closes: scope });
    return arm;
  }

  /** One case of a switch, which then jumps to `merge` unless it is the last. */
  private body(run: () => Yield, merge: Construct | undefined): Arm | undefined {
    this.terminated = false;
    const block = newConstruct("block");
    this.record("none", { kind: "enter", construct: block });
    const scope = this.open();
    const arm = this.yields(run);
    if (arm && merge) {
      merge.isTargeted = true;
      this.record("none", { kind: "branch", target: merge });
      this.terminated = true;
    }
    this.close(scope);
    this.end(block, scope);
    return arm;
  }

  /** Runs a closure and leaves what it returns in places; undefined when its path ends before that. */
  private yields(run: () => Yield): Arm | undefined {
    const outcome = run();
    if (this.terminated) return undefined;
    const values = [...listOf(outcome)];
    for (const value of values) if (value instanceof Node) this.value(value, "the result of a branch");
    const places: Place[] = [];
    // Literals among the values get their type, and all of them their places, when every branch is known.
    if (values.length > 0) this.record("none", { kind: "set", places }, values as Node[]);
    return { places, values, isList: typeof outcome === "object" && !(outcome instanceof Node) };
  }

  /** Makes one value of what each arm leaves behind. */
  private join(arms: readonly (Arm | undefined)[], what: string): Yield {
    const reaching = arms.filter((arm) => arm !== undefined);
    this.terminated = reaching.length === 0;
    const count = reaching[0]?.values.length ?? 0;
    const odd = reaching.find((arm) => arm.values.length !== count);
    if (odd) {
      throw new ArgumentError(
        `${what}: its branches yield ${count} and ${odd.values.length} values; each must yield as many, or none at all`,
      );
    }
    const results: Value[] = [];
    for (let k = 0; k < count; k++) {
      const typed = reaching.map((arm) => arm.values[k]).find((value) => value instanceof Node);
      if (!typed) throw new ArgumentError(`${what}, value ${k + 1}: only literals; write one as f.i32.const(…)`);
      const place = this.place((typed as Value).type);
      for (const arm of reaching) {
        const value = arm.values[k] as Operand;
        if (!(value instanceof Node)) arm.values[k] = this.as(value, place.type, `${what}, value ${k + 1}`) as Value;
        else if (value.type !== place.type) {
          throw new ArgumentError(`${what}, value ${k + 1}: one branch yields ${place.type}, another ${value.type}`);
        }
        arm.places.push(place);
      }
      results.push(this.local(place));
    }
    return reaching.some((arm) => arm.isList) ? results : results[0];
  }

  /** The type of the first value among the bounds; for literals alone i32. */
  private counterType(what: string, ...bounds: readonly Operand[]): "i32" | "i64" {
    const typed = bounds.find((bound) => bound instanceof Node) as Value | undefined;
    const type = typed?.type ?? "i32";
    if (type === "i32" || type === "i64") return type;
    throw new ArgumentError(`${what}: counts in integers, got a bound of type ${type}`);
  }

  private open(loop: Loop = this.scope.loop): Scope & { readonly outer: Scope } {
    const scope = { isOpen: true, owner: this, loop, places: [], outer: this.scope };
    this.scope = scope;
    return scope;
  }

  private close(scope: Scope & { readonly outer: Scope }): void {
    scope.isOpen = false;
    this.scope = scope.outer;
  }

  private openLoop(head: Construct): Scope & { readonly outer: Scope } {
    const loop: Loop = { parent: this.scope.loop, held: [] };
    this.record("none", { kind: "enter", construct: head, loop });
    return this.open(loop);
  }

  private closeLoop(head: Construct, scope: Scope & { readonly outer: Scope }): void {
    this.close(scope);
    this.end(head, scope, scope.loop);
  }

  private end(construct: Construct, closes?: Scope, loop?: Loop): void {
    this.terminated = false;
    this.record("none", { kind: "end", construct, ...(closes && { closes }), ...(loop && { loop }) });
  }
}

function newConstruct(kind: Construct["kind"]): Construct {
  return { kind, isTargeted: false };
}

/** Whether a counted loop runs not even once; undefined when that shows only at run time. */
function isNeverEntered(start: Node, end: Node, isDown: boolean, options: LoopOptions | undefined): boolean | undefined {
  if (start.step.kind !== "constant" || end.step.kind !== "constant") return undefined;
  const [a, b] = [start.step.value, end.step.value].map((value) => {
    const bound = BigInt(value as number | bigint);
    return options?.unsigned ? BigInt.asUintN(64, bound) : bound;
  }) as [bigint, bigint];
  return isDown ? a <= b : a >= b;
}

/** True when the value is what the place holds already. */
function isPlace({ step }: Node, place: Place): boolean {
  return step.kind === "local" && step.place === place;
}

function listOf(value: Yield): readonly Operand[] {
  if (value === undefined) return [];
  return typeof value === "object" && !(value instanceof Node) ? value : [value];
}
