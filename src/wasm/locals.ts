/**
 * The locals of a function body. Values share them: a local is free again after the last use of its value, or, when that
 * lies in a loop the value was made outside of, after the loop, since the next round needs it again. Few locals keep the
 * encoding short and spare the engine work at every join of control flow.
 */
import type { ByteStream } from "./bytes.js";
import { TYPE_CODE, type ValueType } from "./types.js";
import type { Loop } from "./value.js";

export class Locals {
  private readonly declared: ValueType[] = [];
  private readonly free: { readonly [type in ValueType]: number[] } = { i32: [], i64: [], f32: [], f64: [], v128: [] };

  constructor(private readonly parameterCount: number) {}

  take(type: ValueType): number {
    return this.free[type].pop() ?? this.parameterCount + this.declared.push(type) - 1;
  }

  giveBack(type: ValueType, slot: number): void {
    this.free[type].push(slot);
  }

  /** Gives back the local of a value made in loop `owner` whose last use was written in loop `current`. */
  giveBackAfter(type: ValueType, slot: number, owner: Loop, current: Loop): void {
    if (owner === current) {
      this.giveBack(type, slot);
      return;
    }
    let outermost = current;
    while (outermost.parent && outermost.parent !== owner) outermost = outermost.parent;
    outermost.busyLocals.push({ type, slot });
  }

  endLoop({ busyLocals }: Loop): void {
    for (const { type, slot } of busyLocals) this.giveBack(type, slot);
    busyLocals.length = 0;
  }

  /** The declarations that open a body: runs of one type. */
  write(out: ByteStream): void {
    const runs: { type: ValueType; count: number }[] = [];
    for (const type of this.declared) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    out.unsigned(runs.length);
    for (const { type, count } of runs) {
      out.unsigned(count);
      out.byte(TYPE_CODE[type]);
    }
  }
}
