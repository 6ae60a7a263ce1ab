/**
 * Random variables as models write them: `normal(0, 5)` is a tensor like any other, only that its value is decided by
 * whoever evaluates the model: a slice of what the sampler walks in, an observation, or a draw. It is asked for at the
 * first use, so that `.shape(8)` and `.noncentered()` can still follow `normal(…)`.
 */
import { ArgumentError } from "../../core/errors.js";
import { checkShape, formatShape, type Shape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { Tensor } from "../../tensor/index.js";
import { runningTransforms } from "../../transforms/trace.js";
import { deferringErrors } from "../arguments/deferred-errors.js";
import { type Constraint, checkConstraint } from "../constraints/constraint.js";
import type { Distribution } from "./distribution.js";

/** One run of a model's function. */
interface Evaluation {
  /** Called for each variable as it is made, in the order of the program. */
  register(variable: RandomVariable): void;
  /** Called once for each variable that is used. */
  valueOf(variable: RandomVariable): Tensor;
  /** Adds to the log density. */
  factor(logDensity: Tensor | number): void;
  /** The number of factors so far. */
  factorCount(): number;
  /** The number of transforms around it. */
  readonly depth: number;
}

/** The transform inside a model's function that runs what asks, if any: its function runs once for all its steps. */
const transformIn = ({ depth }: Evaluation): string | undefined => runningTransforms()[depth];

let current: Evaluation | null = null;

/** Runs a model's function under an evaluation. */
export function during<T>(run: Evaluation, work: () => T): T {
  const outer = current;
  current = run;
  try {
    return deferringErrors(work);
  } finally {
    current = outer;
  }
}

/** The shape of a variable, and the way to change it: `x.shape` is [8], and `normal(0, 1).shape(8)` makes it so. */
type VariableShape = Shape & ((...extents: number[] | [Shape]) => RandomVariable);

/** A random variable of a model: a tensor whose value is drawn, sampled or given. */
export class RandomVariable extends Tensor {
  private readonly run = current;
  private readonly madeIn = current ? transformIn(current) : undefined;
  private readonly callableShape = shapeThatCanBeCalled(this);
  private value: Tensor | null = null;
  private asked: Shape | null = null;
  private narrowed: Constraint | null = null;
  private isStandardized = false;
  private whole: string | null = null;

  /** @internal Use `normal(…)` and the other distributions. */
  constructor(readonly distribution: Distribution) {
    super(null);
    this.run?.register(this);
  }

  /** @internal */
  override get node(): Tensor["node"] {
    if (!this.value) {
      if (!this.run || this.run !== current) {
        throw new ArgumentError(
          `${this.distribution.name}(…) has a value only while its model runs. ` +
            "Write it inside model(() => …), or use .distribution.sample(key) and .distribution.logDensity(x).",
        );
      }
      this.checkMadeOnce();
      this.value = this.run.valueOf(this);
    }
    return this.value.node;
  }

  override get shape(): VariableShape {
    return this.callableShape;
  }

  /** @internal Whether the value has been asked for. */
  get isUsed(): boolean {
    return this.value !== null;
  }

  /** @internal Shape of the independent draws: what `.shape(…)` said, if anything. */
  get batchShape(): Shape | null {
    return this.asked;
  }

  /** @internal Where the values lie. */
  get constraint(): Constraint {
    return this.narrowed ?? this.distribution.support;
  }

  /** @internal Whether `.constrained(…)` narrowed the support. */
  get isNarrowed(): boolean {
    return this.narrowed !== null;
  }

  /** @internal */
  get isNoncentered(): boolean {
    return this.isStandardized;
  }

  /** @internal What `.shape(…)` does. */
  reshaped(extents: Shape): this {
    this.checkUnused("shape");
    this.asked = checkShape(extents, `${this.distribution.name}.shape`);
    return this;
  }

  /**
   * Samples a standard variable instead and makes this one of it: `normal(mu, tau).noncentered()` is mu + tau·z. The model
   * is the same; the sampler has an easier time where the data say little about each variable.
   */
  noncentered(): this {
    this.checkUnused("noncentered");
    if (!this.distribution.noncentered) {
      throw new ArgumentError(
        `${this.distribution.name}: noncentered() is for distributions with a scale, such as normal and halfNormal.`,
      );
    }
    this.isStandardized = true;
    return this;
  }

  /**
   * Keeps the variable to a part of its support: `normal(0, 2).shape(3).constrained(ordered)`. The density is not divided
   * by the probability of that part, which matters only where it depends on other variables.
   */
  constrained(constraint: Constraint): this {
    this.checkUnused("constrained");
    checkConstraint("constrained", constraint);
    this.narrowed = constraint;
    return this;
  }

  /** @internal The distribution, for use in another one. Modifiers would be lost on it. */
  asPart(whole: string): Distribution {
    this.whole = whole;
    if (!this.asked && !this.narrowed && !this.isStandardized) return this.distribution;
    throw new ArgumentError(
      `${whole}: its part ${this.distribution.name}(…) takes no .shape(…), .noncentered() or .constrained(…); ` +
        `call them on ${whole}(…).`,
    );
  }

  /** @internal What runs once for many steps or members makes one variable, which all of them would share. */
  checkMadeOnce(): void {
    if (this.madeIn === undefined) return;
    const { name } = this.distribution;
    throw new ArgumentError(
      `${name}(…) is made inside the function of ${this.madeIn}, which runs once for all steps, so that all would share one ` +
        `variable. Make one with an axis before, such as ${name}(…).shape(100), and pass it to ${this.madeIn} along with the rest.`,
    );
  }

  /** @internal A variable that describes another, such as a component of a mixture, has no value of its own. */
  checkNoPart(): void {
    if (this.whole === null) return;
    throw new ArgumentError(
      `it is a part of ${this.whole}(…), which takes its distribution and not its value; to have such a variable as well, ` +
        `write ${this.distribution.name}(…) again.`,
    );
  }

  private checkUnused(what: string): void {
    if (!this.value) return;
    throw new ArgumentError(
      `${what}: this ${this.distribution.name} variable has been used already; ` +
        `call ${what}(…) right where it is made: ${this.distribution.name}(…).${what}(…).`,
    );
  }

  override toString(): string {
    return `RandomVariable(${this.distribution.name}${this.asked ? `, shape ${formatShape(this.asked)}` : ""})`;
  }
}

Object.defineProperty(RandomVariable.prototype, Symbol.for("nodejs.util.inspect.custom"), {
  value: RandomVariable.prototype.toString,
});

/**
 * Everything that reads a tensor's shape must find one on variables too, while `.shape(8)` has to be a call. So this is a
 * function that shows the shape's elements and methods as its own.
 */
function shapeThatCanBeCalled(variable: RandomVariable): VariableShape {
  const call = (...extents: number[] | [Shape]) =>
    variable.reshaped((typeof extents[0] === "number" ? extents : (extents[0] ?? [])) as Shape);
  return new Proxy(call, {
    get: (_, property) => Reflect.get(variable.node.shape, property),
    has: (_, property) => property in variable.node.shape,
  }) as unknown as VariableShape;
}

/** The distribution of a variable that is a part of another one: `mixture` and others take variables as descriptions. */
export function partOf(given: unknown, whole: string): Distribution {
  if (given instanceof RandomVariable) return given.asPart(whole);
  throw new ArgumentError(`${whole}: ${shown(given)} is no distribution; give normal(…) or another one.`);
}

/** Adds to the log density of the model: a likelihood of your own, or any other weight. Tensors are summed. */
export function factor(logDensity: Tensor | number): void {
  if (!current) throw new ArgumentError("factor: call it inside a model; it adds to the model's log density.");
  const transform = transformIn(current);
  if (transform !== undefined) {
    throw new ArgumentError(
      `factor: called inside the function of ${transform}, which runs once for all steps. ` +
        `Return the log density from that function, and call factor(…) on what ${transform} returns.`,
    );
  }
  if (!(logDensity instanceof Tensor) && (typeof logDensity !== "number" || Number.isNaN(logDensity))) {
    throw new ArgumentError(
      `factor ${current.factorCount() + 1}: ${shown(logDensity)} is no log density; give a number or a tensor.`,
    );
  }
  current.factor(logDensity);
}
