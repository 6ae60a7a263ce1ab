/**
 * Structured control flow: branches and loops are closures, as in the SPIR-V builder, so the nesting of blocks and the
 * depths of jumps are right whatever the kernel does inside.
 *
 * Values leave a branch or a loop as the closure's return value, or through a variable:
 *
 *     const y = f.if(f.f32.lt(x, 0), () => f.f32.neg(x), () => x);
 *     const sum = f.fold(0, n, 1, f.f32.const(0), (i, sum) => f.f32.add(sum, f.f32.load(f.i32.shl(i, 2))));
 *
 * Nesting of closures is the only recursion: a straight run of any length is a flat list of nodes.
 */
import { ArgumentError } from "../core/errors.js";
import { Branches, type InnerScope, type Like, listOf, newConstruct, type Yield } from "./branches.js";
import type { ValueType } from "./types.js";
import { type Construct, type Local, type Loop, Node, type Operand, type Value } from "./value.js";

interface LoopOptions {
  /** Compare the counter as an unsigned number, as for addresses. Signed unless told. */
  readonly unsigned?: boolean;
}

/** An open loop: the targets of `break` and `continue`, and the locals of its state. */
interface OpenLoop {
  readonly exit: Construct;
  readonly next: Construct;
  readonly state: readonly Local[];
  isLeft: boolean;
}

export class ControlFlow extends Branches {
  private readonly loops: OpenLoop[] = [];

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
    const locals = this.carry(initial, what);
    const isEmpty = isNeverEntered(first, limit, isDown, options);
    if (isEmpty) return locals.map((local) => this.valueIn(local));

    const exit = newConstruct(isEmpty === undefined ? "if" : "block");
    const guard = isEmpty === undefined ? [this.op(compare, first as Value, limit as Value)] : [];
    this.record("none", { kind: "enter", construct: exit }, guard);
    const whole = this.open();
    const counter = this.local(type);
    this.assign([counter], [first]);
    const head = newConstruct("loop");
    const next = newConstruct("block");
    const loop = this.openLoop(head);
    this.record("none", { kind: "enter", construct: next });
    const entered: OpenLoop = { exit, next, state: locals, isLeft: true };
    this.round(entered, (state) => body(state, this.valueIn(counter)));
    this.end(next);
    this.terminated = false;
    const following = this.op(`${type}.add`, this.valueIn(counter), stride as Value);
    this.assign([counter], [following]);
    this.branchIf(head, this.op(compare, this.valueIn(counter), limit as Value) as Value<"i32">);
    this.closeLoop(head, loop);
    this.close(whole);
    this.end(exit, whole);
    return locals.map((local) => this.valueIn(local));
  }

  private repeat(
    initial: readonly Value[],
    condition: ((state: Value[]) => Operand<"i32">) | undefined,
    body: (state: Value[]) => Yield,
  ): Value[] {
    const locals = this.carry(initial, "loop");
    const exit = newConstruct("block");
    const head = newConstruct("loop");
    this.record("none", { kind: "enter", construct: exit });
    const loop = this.openLoop(head);
    const entered: OpenLoop = { exit, next: head, state: locals, isLeft: condition !== undefined };
    if (condition) {
      const test = this.as(condition(locals.map((local) => this.valueIn(local))), "i32", "loop condition");
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
    return locals.map((local) => this.valueIn(local));
  }

  /** One round: runs the body and stores the state it returns. */
  private round(loop: OpenLoop, body: (state: Value[]) => Yield): void {
    this.loops.push(loop);
    try {
      const outcome = listOf(body(loop.state.map((local) => this.valueIn(local))));
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
    const values = given.map((value, k) => this.as(value, (state[k] as Local).type, `${what}, value ${k + 1}`));
    const changed = state.map((_, k) => k).filter((k) => !holdsValue(values[k] as Node, state[k] as Local));
    if (changed.length === 0) return;
    this.assign(
      changed.map((k) => state[k] as Local),
      changed.map((k) => values[k] as Node),
    );
  }

  private innermost(what: string): OpenLoop {
    const loop = this.loops[this.loops.length - 1];
    if (!loop) throw new ArgumentError(`${what} outside a loop`);
    return loop;
  }

  /** Locals for the state of a loop, set to the initial values. */
  private carry(initial: readonly Value[], what: string): Local[] {
    const values = initial.map((operand) => this.value(operand, `${what}, initial state`));
    const locals = values.map((value) => this.local(value.type));
    if (locals.length > 0) this.assign(locals, values);
    return locals;
  }

  /** The type of the first value among the bounds; for literals alone i32. */
  private counterType(what: string, ...bounds: readonly Operand[]): "i32" | "i64" {
    const typed = bounds.find((bound) => bound instanceof Node) as Value | undefined;
    const type = typed?.type ?? "i32";
    if (type === "i32" || type === "i64") return type;
    throw new ArgumentError(`${what}: counts in integers, got a bound of type ${type}`);
  }

  private openLoop(head: Construct): InnerScope {
    const loop: Loop = { parent: this.scope.loop, busyLocals: [] };
    this.record("none", { kind: "enter", construct: head, loop });
    return this.open(loop);
  }

  private closeLoop(head: Construct, scope: InnerScope): void {
    this.close(scope);
    this.end(head, scope, scope.loop);
  }
}

/** Whether a counted loop never runs; undefined when only run time can tell. */
function isNeverEntered(
  start: Node,
  end: Node,
  isDown: boolean,
  options: LoopOptions | undefined,
): boolean | undefined {
  if (start.step.kind !== "constant" || end.step.kind !== "constant") return undefined;
  const [a, b] = [start.step.value, end.step.value].map((value) => {
    const bound = BigInt(value as number | bigint);
    return options?.unsigned ? BigInt.asUintN(64, bound) : bound;
  }) as [bigint, bigint];
  return isDown ? a <= b : a >= b;
}

/** True when the local already holds the value. */
function holdsValue({ step }: Node, local: Local): boolean {
  return step.kind === "local" && step.local === local;
}
