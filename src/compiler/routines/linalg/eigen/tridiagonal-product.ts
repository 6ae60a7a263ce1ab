/**
 * The second kernel of a column of tridiagonal.ts on a CPU: the matrix changed by the reflection before, A - v wᴴ - w vᴴ, and multiplied
 * by the new vector on the way. A thread has many rows, and goes along one after another. GPUs have tridiagonal-step.ts instead.
 */
import type { ElementSettings } from "../../../elements/elements.js";
import type { Kernel, Value } from "../../../ir/ir.js";
import { KernelBuilder } from "../../../ir/kernel-builder.js";
import { Field, type Num, type NumberKind, valuesOf } from "../field.js";
import { BLOCK, type TridiagonalSize } from "./tridiagonal-size.js";

/** Rows of a thread. */
const CHUNK = 32;

/**
 * Buffers: the matrix, and the changed one; v, the new vector and w; the number of the column behind this one; the product. Only rows
 * and columns from that number on are changed.
 */
export function productKernel(size: TridiagonalSize, kind: NumberKind, settings: ElementSettings): Kernel {
  const k = new KernelBuilder(`tridiagonal product[${size.n}]`, size.batch * Math.ceil(size.n / CHUNK));
  new ProductStep(k, new Field(k, kind, settings), size).write();
  return k.finish();
}

class ProductStep {
  /** Buffers, in the order of their numbers. */
  private readonly lines: { readonly [name in "from" | "to" | "before" | "now" | "w"]: number };
  private readonly y: number;
  private readonly step: Value;
  /** Rows of the member before, filled up, and the first row or column of this chunk. */
  private readonly member: Value;
  private readonly first: Value;

  constructor(
    private readonly k: KernelBuilder,
    private readonly field: Field,
    private readonly size: TridiagonalSize,
  ) {
    const [from, to, before, now, w] = [false, true, false, false, false].map((isWritten) => field.buffer(isWritten));
    this.lines = { from, to, before, now, w };
    const count = k.buffer("i32", false);
    this.y = field.buffer(true);
    const chunks = Math.ceil(size.n / CHUNK);
    this.step = k.binary("sub", k.load(count, this.i(0), "i32"), this.i(1));
    this.member = k.binary("mul", k.binary("idiv", k.row, this.i(chunks)), this.i(size.padded));
    this.first = k.binary("mul", k.binary("irem", k.row, this.i(chunks)), this.i(CHUNK));
  }

  private i(value: number): Value {
    return this.k.constant("i32", value);
  }

  private vector(buffer: number, index: Value): Num {
    return this.field.load(buffer, this.k.binary("add", this.member, index));
  }

  private at(row: Value, column: Value): Value {
    const { k } = this;
    return k.binary("add", k.binary("mul", k.binary("add", this.member, row), this.i(this.size.padded)), column);
  }

  /** The rows, one after another. */
  write(): void {
    const { k, field, step, size } = this;
    const { before, w } = this.lines;
    k.loop(CHUNK, [], (at0) => {
      const row = k.binary("add", this.first, at0);
      k.when(k.binary("and", k.compare("gt", row, step), k.compare("lt", row, this.i(size.n))), () => {
        const [v, beside] = [this.vector(before, row), this.vector(w, row)];
        const [total] = field.loop(size.padded / BLOCK, [field.zero], (block, [sum]) => {
          const begin = k.binary("mul", block, this.i(BLOCK));
          const isNeeded = k.compare("gt", k.binary("add", begin, this.i(BLOCK - 1)), step);
          const found = k.when(
            isNeeded,
            () => valuesOf(field.add(sum, this.blockOfRow(row, begin, v, beside))),
            () => valuesOf(sum),
          );
          return [{ re: found[0], im: found[1] ?? null }];
        });
        field.store(this.y, k.binary("add", this.member, row), total);
        return [];
      });
      return [];
    });
  }

  /** A block of a row, changed and stored, times the new vector. */
  private blockOfRow(row: Value, begin: Value, v: Num, beside: Num): Num {
    const { k, field } = this;
    const { from, to, before, now, w } = this.lines;
    const [part] = field.loop(BLOCK, [field.zero], (column, [partial]) => {
      const c = k.binary("add", begin, column);
      const place = this.at(row, c);
      const [cv, cw] = [field.conj(this.vector(before, c)), field.conj(this.vector(w, c))];
      const x = field.mulSub(beside, cv, field.mulSub(v, cw, field.load(from, place)));
      field.store(to, place, x);
      return [field.add(partial, field.mul(x, this.vector(now, c)))];
    });
    return part;
  }
}
