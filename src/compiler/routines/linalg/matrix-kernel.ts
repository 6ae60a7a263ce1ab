/**
 * Shared by the kernels that factor a whole matrix: a matrix for each row of the kernel, worked on by one lane or a
 * workgroup, in memory of its own. `MatrixKernel` holds the builder, the field of numbers and the loops over rows.
 */
import { sizeOf } from "../../../core/shape.js";
import type { Node } from "../../../graph/node.js";
import type { ElementSettings } from "../../elements/elements.js";
import type { Value } from "../../ir/ir.js";
import { KernelBuilder } from "../../ir/kernel-builder.js";
import type { TargetProfile } from "../../target/profile.js";
import { Field, kindOf, type Num, shapeOf } from "./field.js";

export const SOFTWARE_LANES = 8;

/**
 * Lanes that share a matrix. A software driver takes few, because barriers are slow there, but not one: it takes seconds to
 * compile a kernel with a large array of a single lane.
 */
export function lanesForRows(rows: number, { maxLanes, hasSlowBarriers, tiles }: TargetProfile): number {
  if (maxLanes === 1) return 1;
  if (hasSlowBarriers) return SOFTWARE_LANES;
  const most = Math.min(256, tiles.maxLanes);
  let lanes = 32;
  while (lanes < rows && lanes < most) lanes *= 2;
  return lanes;
}

/** The matrices of a routine: how many, and their rows and columns. */
export function matricesOf(
  node: Node,
  isComplex: boolean,
): { readonly batch: number; readonly shape: [number, number] } {
  const shape = shapeOf(node, isComplex);
  const [m, n] = shape.slice(-2);
  return { batch: sizeOf(shape.slice(0, -2)), shape: [m, n] };
}

export class MatrixKernel {
  readonly k: KernelBuilder;
  readonly f: Field;

  constructor(name: string, rows: number, lanes: number, node: Node, settings: ElementSettings) {
    this.k = new KernelBuilder(name, rows, lanes);
    this.f = new Field(this.k, kindOf(node), settings);
  }

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  add(a: Value, b: Value | number): Value {
    return this.k.binary("add", a, typeof b === "number" ? this.i(b) : b);
  }

  mul(a: Value, by: number): Value {
    return this.k.binary("mul", a, this.i(by));
  }

  less(a: Value, b: Value | number): Value {
    return this.k.compare("lt", a, typeof b === "number" ? this.i(b) : b);
  }

  /** Runs the body for 0 … extent - 1, one after another in every lane. */
  each(extent: number, body: (at: Value) => void): void {
    this.k.loop(extent, [], (at) => {
      body(at);
      return [];
    });
  }

  /** Runs the body for 0 … extent - 1, shared among the lanes. */
  spread(extent: number, body: (at: Value) => void): void {
    this.k.loop(
      extent,
      [],
      (at) => {
        body(at);
        return [];
      },
      { isLaneLoop: true },
    );
  }

  /** Runs the body where the condition holds. */
  when(condition: Value, body: () => void): void {
    this.k.when(condition, () => {
      body();
      return [];
    });
  }

  /** The sum of terms at 0 … count - 1, of at most n. */
  sumBelow(count: Value, n: number, term: (at: Value) => Num): Num {
    return this.sumsBelow(count, n, 1, term)[0];
  }

  /**
   * Several such sums. A single lane goes through all n and leaves some out, which vectors do four at a time; several lanes
   * stop early.
   */
  sumsBelow(count: Value, n: number, sums: number, term: (at: Value, which: number) => Num): Num[] {
    const { k, f } = this;
    return f.loop(
      n,
      Array.from({ length: sums }, () => f.zero),
      (at, totals) => {
        const isKnown = this.less(at, count);
        return totals.map((total, which) => f.add(total, f.select(isKnown, term(at, which), f.zero)));
      },
      k.lanes === 1 ? {} : { exitAfter: (at) => k.compare("ge", this.add(at, 1), count) },
    );
  }
}
