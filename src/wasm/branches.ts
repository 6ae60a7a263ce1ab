/**
 * Branches: one of two closures by a condition, one of many by a number. Their return values become values of the branch,
 * through locals that every closure writes.
 */
import { ArgumentError } from "../core/errors.js";
import { Recorder } from "./recorder.js";
import type { Literal } from "./types.js";
import { type Construct, type Local, type Loop, Node, type Operand, type Scope, type Value } from "./value.js";

/** The return value of a branch's closure: nothing, one value, or several. */
// biome-ignore lint/suspicious/noConfusingVoidType: a closure without a return statement is the common case
export type Yield = void | Operand | readonly Operand[];

/** The results of the branch: a value for each operand its closures return. */
type Yielded<T extends Yield> = T extends Operand
  ? Like<T>
  : T extends readonly Operand[]
    ? { -readonly [K in keyof T]: Like<T[K]> }
    : // biome-ignore lint/suspicious/noConfusingVoidType: it is what the caller sees as the return type
      void;

/** A value of the operand's type, where it is known; a literal takes that of the other branch. */
export type Like<T> = T extends Value<infer U> ? Value<U> : Value;

type CaseLabel = number | readonly number[];

/** A closure that runs to its end, with the values it returned. */
interface Arm {
  /** The locals written at its end, filled in once the types are known, and the values written there. */
  readonly locals: Local[];
  readonly values: Operand[];
  readonly isList: boolean;
}

/** A scope with the scope around it. */
export interface InnerScope extends Scope {
  readonly outer: Scope;
}

/** Spans of labels up to this many per case become a jump table. */
const TABLE_SPARSENESS = 4;

export class Branches extends Recorder {
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
    else arms.push({ locals: [], values: [], isList: false });
    this.end(merge);
    return this.join(arms, "switch");
  }

  /** Traps. */
  unreachable(): void {
    this.record("none", { kind: "unreachable" });
    this.terminated = true;
  }

  protected branchIf(target: Construct, condition: Value<"i32">): void {
    target.isTargeted = true;
    this.record("none", { kind: "branchIf", target }, [condition]);
  }

  protected open(loop: Loop = this.scope.loop): InnerScope {
    const scope = { isOpen: true, owner: this, loop, locals: [], outer: this.scope };
    this.scope = scope;
    return scope;
  }

  protected close(scope: InnerScope): void {
    scope.isOpen = false;
    this.scope = scope.outer;
  }

  protected end(construct: Construct, closes?: Scope, loop?: Loop): void {
    this.terminated = false;
    this.record("none", { kind: "end", construct, ...(closes && { closes }), ...(loop && { loop }) });
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

  /** Runs a closure and writes its return values to locals; undefined when its path ends before that. */
  private yields(run: () => Yield): Arm | undefined {
    const outcome = run();
    if (this.terminated) return undefined;
    const values = [...listOf(outcome)];
    for (const value of values) if (value instanceof Node) this.value(value, "the result of a branch");
    const locals: Local[] = [];
    // Literals among the values get their type, and all of them their locals, when every branch is known.
    if (values.length > 0) this.record("none", { kind: "set", locals }, values as Node[]);
    return { locals, values, isList: typeof outcome === "object" && !(outcome instanceof Node) };
  }

  /** Joins the values of the arms. */
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
      const local = this.local((typed as Value).type);
      for (const arm of reaching) {
        const value = arm.values[k] as Operand;
        if (!(value instanceof Node)) arm.values[k] = this.as(value, local.type, `${what}, value ${k + 1}`) as Value;
        else if (value.type !== local.type) {
          throw new ArgumentError(`${what}, value ${k + 1}: one branch yields ${local.type}, another ${value.type}`);
        }
        arm.locals.push(local);
      }
      results.push(this.valueIn(local));
    }
    return reaching.some((arm) => arm.isList) ? results : results[0];
  }
}

export function newConstruct(kind: Construct["kind"]): Construct {
  return { kind, isTargeted: false };
}

export function listOf(value: Yield): readonly Operand[] {
  if (value === undefined) return [];
  return typeof value === "object" && !(value instanceof Node) ? value : [value];
}
