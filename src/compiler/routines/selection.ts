/**
 * Finds elements by their rank without sorting: a workgroup holds keys in registers and halves, bit by bit, the range that
 * the wanted key is in, counting the keys below the middle. Equal keys are told apart by their positions in the same way, so
 * that ranks are those of a stable sort. How many bits it takes depends on the keys: it ends when one element is left. The
 * kernels of order statistics (select-kernel.ts) are written with it.
 */
import type { Value } from "../ir/ir.js";
import type { KernelBuilder } from "../ir/kernel-builder.js";

/** A key of u32 and its position in the row, below 2^30. Places without an element have the last key and `NOWHERE`. */
export interface Keyed {
  readonly key: Value;
  readonly at: Value;
}

export const LAST_KEY = 2 ** 32 - 1;
export const NOWHERE = 2 ** 30;

/** The small arithmetic of these kernels. */
export class SelectionOps {
  constructor(readonly k: KernelBuilder) {}

  i(value: number): Value {
    return this.k.constant("i32", value);
  }

  u(value: number): Value {
    return this.k.constant("u32", value);
  }

  add(a: Value, b: Value): Value {
    return this.k.binary("add", a, b);
  }

  and(a: Value, b: Value): Value {
    return this.k.binary("and", a, b);
  }

  /** Whether a comes before b in the order of a stable sort; with `orSame`, also where both are the same element. */
  isBefore(a: Keyed, b: Keyed, orSame = false): Value {
    const { k } = this;
    const isEarlier = k.compare(orSame ? "le" : "lt", a.at, b.at);
    return k.binary("or", k.compare("lt", a.key, b.key), this.and(k.compare("eq", a.key, b.key), isEarlier));
  }

  /** The number of the lane's elements that have a property. */
  ownCount(items: readonly Keyed[], has: (item: Keyed) => Value): Value {
    return items
      .map((item) => this.k.select(has(item), this.i(1), this.i(0)))
      .reduce((sum, next) => this.add(sum, next));
  }

  /** The number of elements of all lanes that have a property. */
  count(items: readonly Keyed[], has: (item: Keyed) => Value): Value {
    return this.k.combineLanes("add", this.ownCount(items, has));
  }

  /** The first, or last, element with a property, of all lanes; some element has it. */
  extreme(op: "min" | "max", items: readonly Keyed[], has: (item: Keyed) => Value): Keyed {
    const { k } = this;
    const none = op === "min" ? { key: this.u(LAST_KEY), at: this.i(NOWHERE) } : { key: this.u(0), at: this.i(-1) };
    const best = (values: readonly Value[]) =>
      k.combineLanes(
        op,
        values.reduce((a, b) => k.binary(op, a, b)),
      );
    const having = items.map(has);
    const key = best(items.map((item, j) => k.select(having[j], item.key, none.key)));
    const at = best(
      items.map((item, j) => k.select(this.and(having[j], k.compare("eq", item.key, key)), item.at, none.at)),
    );
    return { key, at };
  }

  /** The element that a stable sort puts at a rank. Positions are below 2^`positionBits`. */
  ofRank(items: readonly Keyed[], rank: Value, positionBits: number): Keyed {
    const { k } = this;
    const everything = items.length * k.lanes;
    // The key is in [low, low + span); `below` and `above` count the keys before that range and before its end.
    const [low, span, below, above] = k.loop(
      32,
      [this.u(0), this.u(0), this.i(0), this.i(everything)],
      (round, [low, _span, below, above]) => {
        const half = k.binary("shl", this.u(1), k.bitcast("u32", k.binary("sub", this.i(31), round)));
        const middle = k.binary("or", low, half);
        const before = this.count(items, ({ key }) => k.compare("lt", key, middle));
        const isUpper = k.compare("le", before, rank);
        return [
          k.select(isUpper, middle, low),
          half,
          k.select(isUpper, before, below),
          k.select(isUpper, above, before),
        ];
      },
      { exitWhen: ([, , below, above]) => k.compare("eq", k.binary("sub", above, below), this.i(1)) },
    );
    const isInRange = ({ key }: Keyed) => k.compare("lt", k.binary("sub", key, low), span);
    const first = this.extreme("min", items, isInRange);
    // Several equal keys: the one that so many others stand before.
    const [at] = k.when(
      k.compare("eq", k.binary("sub", above, below), this.i(1)),
      () => [first.at],
      () => [this.positionOfRank(items, first.key, k.binary("sub", rank, below), positionBits)],
    );
    return { key: first.key, at };
  }

  /** Of the elements with a key, the position of the one that so many others stand before. */
  private positionOfRank(items: readonly Keyed[], wanted: Value, rank: Value, bits: number): Value {
    const { k } = this;
    const [at] = k.loop(bits, [this.i(0)], (round, [low]) => {
      const distance = k.bitcast("u32", k.binary("sub", this.i(bits - 1), round));
      const middle = k.binary("or", low, k.binary("shl", this.i(1), distance));
      const before = this.count(items, ({ key, at }) =>
        this.and(k.compare("eq", key, wanted), k.compare("lt", at, middle)),
      );
      return [k.select(k.compare("le", before, rank), middle, low)];
    });
    return at;
  }
}
