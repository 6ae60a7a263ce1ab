/**
 * Scores of splits: what exact splits make as large as possible, by scikit-learn's formulas, so that equal sums give equal choices.
 * Sums of the left part are carried in registers where there are few channels, else they are in memory of the thread.
 */
import type { Value } from "../../ir/ir.js";
import type { KernelBuilder } from "../../ir/kernel-builder.js";

export type Criterion = "gini" | "entropy" | "squared" | "friedman" | "poisson";

/** Sums below this have no logarithm, as in scikit-learn. */
const TINY = 2.220446049250313e-15;

/** How rows of a node are read. */
interface Channels {
  readonly criterion: Criterion;
  readonly channels: number;
  readonly isCarried: boolean;
  weightOf(row: Value): Value;
  targetOf(row: Value, channel: Value): Value;
  /** Totals of the node. */
  total(channel: Value): Value;
  readonly weight: Value;
  /** Weight that each part needs; null where any will do. */
  readonly leastWeight: Value | null;
  log(x: Value): Value;
}

/** Sums of the left part, as values of a loop: its weight first. A row is known by its number, or by its place where medians are looked for. */
export interface ChannelSums {
  readonly initial: readonly Value[];
  /** Sets sums in memory to those of no row. */
  clear(): void;
  /** With one more row; only where `gate` is true. */
  added(row: Value, carried: readonly Value[], gate: Value | null): Value[];
  score(carried: readonly Value[]): { readonly score: Value; readonly isValid: Value };
}

export function channelSums(k: KernelBuilder, type: "f32" | "f64", source: Channels): ChannelSums {
  const { criterion, channels, isCarried, weightOf, targetOf } = source;
  const zero = k.constant(type, 0);
  const i = (value: number) => k.constant("i32", value);
  const isByClass = criterion === "gini" || criterion === "entropy";
  const memory = isCarried ? -1 : k.array(type, channels, true);
  const plus = (a: Value, b: Value) => k.binary("add", a, b);
  const times = (a: Value, b: Value) => k.binary("mul", a, b);
  const overMemory = (visit: (channel: Value) => void): void => {
    k.loop(channels, [], (channel) => {
      visit(channel);
      return [];
    });
  };
  /** What a row adds to a channel that is carried. */
  const share = (row: Value, weight: Value, channel: number): Value => {
    if (!isByClass) return times(weight, targetOf(row, i(channel)));
    return k.select(k.compare("eq", targetOf(row, i(0)), k.constant(type, channel)), weight, zero);
  };
  return {
    initial: [zero, ...Array.from({ length: isCarried ? channels : 0 }, () => zero)],
    clear() {
      if (!isCarried) overMemory((channel) => k.set(memory, channel, zero));
    },
    added(row, [weight, ...sums], gate) {
      const full = weightOf(row);
      const own = gate ? k.select(gate, full, zero) : full;
      if (isCarried) return [plus(weight, own), ...sums.map((sum, channel) => plus(sum, share(row, own, channel)))];
      if (isByClass) {
        const channel = k.convert("i32", targetOf(row, i(0)));
        k.set(memory, channel, plus(k.get(memory, channel), own));
      } else {
        overMemory((channel) =>
          k.set(memory, channel, plus(k.get(memory, channel), times(own, targetOf(row, channel)))),
        );
      }
      return [plus(weight, own)];
    },
    score([left, ...sums]) {
      const right = k.binary("sub", source.weight, left);
      const both = { left, right };
      const parts = isCarried
        ? sums.reduce<readonly Value[]>((held, sum, channel) => gathered(both, held, sum, i(channel)), start())
        : k.loop(channels, start(), (channel, held) => gathered(both, held, k.get(memory, channel), channel));
      return scored(both, parts);
    },
  };

  function start(): Value[] {
    return [zero, zero, k.constant("bool", true)];
  }

  /** Adds a channel to what both sides have gathered. */
  function gathered(sides: Side, [a, b, isValid]: readonly Value[], leftSum: Value, channel: Value): Value[] {
    const rightSum = k.binary("sub", source.total(channel), leftSum);
    const isEnough = k.binary("and", isMore(leftSum), isMore(rightSum));
    return [
      plus(a, term(leftSum, sides.left)),
      plus(b, term(rightSum, sides.right)),
      criterion === "poisson" ? k.binary("and", isValid, isEnough) : isValid,
    ];
  }

  function isMore(sum: Value): Value {
    return k.compare("gt", sum, k.constant(type, TINY));
  }

  function term(sum: Value, weight: Value): Value {
    if (criterion === "gini" || criterion === "squared") return times(sum, sum);
    if (criterion === "friedman") return sum;
    const share = k.binary("div", sum, weight);
    const isSome = k.compare("gt", sum, zero);
    const safe = k.select(isSome, share, k.constant(type, 1));
    return times(criterion === "entropy" ? safe : sum, source.log(safe));
  }

  function scored({ left, right }: Side, [a, b, isValid]: readonly Value[]): { score: Value; isValid: Value } {
    const square = (weight: Value) => times(weight, weight);
    const one = k.constant(type, 1);
    const impurity = (sum: Value, weight: Value): Value =>
      criterion === "gini" ? k.binary("sub", one, k.binary("div", sum, square(weight))) : k.unary("neg", sum);
    const isHeavy = (least: Value) => k.binary("and", k.compare("ge", left, least), k.compare("ge", right, least));
    return {
      score: score(),
      isValid: source.leastWeight ? k.binary("and", isValid, isHeavy(source.leastWeight)) : isValid,
    };

    function score(): Value {
      switch (criterion) {
        case "squared":
          return plus(k.binary("div", a, left), k.binary("div", b, right));
        case "friedman":
          return k.binary("div", square(k.binary("sub", times(right, a), times(left, b))), times(left, right));
        case "poisson":
          return plus(a, b);
        default:
          return k.binary("sub", times(k.unary("neg", right), impurity(b, right)), times(left, impurity(a, left)));
      }
    }
  }
}

/** Weights of both sides. */
interface Side {
  readonly left: Value;
  readonly right: Value;
}
