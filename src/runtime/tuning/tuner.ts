/**
 * Finds the best tilings of products on a device by measuring, and keeps them. Two callers: where the user asks for it
 * (PUMICE_TUNE=1), programs are looked through before they are compiled, and products of a new class are timed once; and
 * `tune` of the public surface times the products it is given. What is found is part of the target's profile, and so of the
 * keys of programs on disk.
 */
import { compile } from "../../compiler/compile.js";
import type { Recordable, Target } from "../../compiler/target/target.js";
import { productShapeOf } from "../../compiler/tiles/operand-orders.js";
import { shapeClass } from "../../compiler/tiles/product-shape.js";
import { OutOfMemoryError } from "../../core/errors.js";
import { debug } from "../../engines/debug.js";
import type { Engine, EngineMemory, LoadedKernel } from "../../engines/engine.js";
import type { Node } from "../../graph/node.js";
import type { MatmulPrecision } from "../../graph/product-precision.js";
import { ProductTimer, type Stopwatch, type TimedProduct } from "./product-timer.js";
import { type Finding, searchTiling } from "./search.js";

/** Measured tilings by class of product, as text. */
type Tilings = Record<string, string>;

/** The store of measured tilings: a file, or this process alone. */
interface TuningStore {
  read(): Readonly<Tilings>;
  add(tilings: Readonly<Tilings>): boolean;
}

export interface TunerOptions {
  readonly store: TuningStore | null;
  /** Whether programs are looked through for products to measure. */
  readonly isAsked: boolean;
  readonly stopwatch?: Stopwatch;
}

/** A target whose profile has the measured tilings of a store. */
export function withTilings(target: Target, store: TuningStore | null): Target {
  const tuned = { ...store?.read() };
  return { ...target, profile: { ...target.profile, tiles: { ...target.profile.tiles, tuned } } };
}

export class Tuner<M extends EngineMemory, K extends LoadedKernel> {
  /** Classes that were looked at: each is measured once. */
  private readonly seen = new Set<string>();

  constructor(
    private readonly engine: Engine<M, K>,
    private readonly target: Target,
    private readonly options: TunerOptions,
  ) {}

  /** Measures the products of a graph that is about to be compiled, if the user asks for that. */
  prepare(roots: readonly Node[], given: readonly Node[], recordable: Recordable | null): void {
    if (!this.options.isAsked) return;
    for (const product of this.productsIn(roots, given, recordable)) {
      const products = shapeClass(product.shape);
      if (this.seen.has(products) || this.target.profile.tiles.tuned?.[products]) continue;
      this.seen.add(products);
      this.tune(product);
    }
  }

  /** Times the tilings of a product and keeps the best. Null where there is nothing to choose, or no memory for it. */
  tune(product: TimedProduct): Finding | null {
    const { engine, target } = this;
    let timer: ProductTimer<M, K> | null = null;
    try {
      const opened = new ProductTimer(engine, target, product, this.options.stopwatch);
      timer = opened;
      const finding = searchTiling(product.shape, target.profile.tiles, (tiling) => opened.sample(tiling));
      if (finding) this.keep(finding);
      return finding;
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      debug(1, () => `tuning: no memory for ${shapeClass(product.shape)}`);
      return null;
    } finally {
      timer?.dispose();
    }
  }

  private keep({ products, tiling, before, milliseconds, millisecondsBefore, tried }: Finding): void {
    debug(1, () => {
      const times = `${milliseconds.toFixed(4)} ms, before ${millisecondsBefore.toFixed(4)} ms in ${before}`;
      return `tuning: ${products} in ${tiling}: ${times}; ${tried} tried`;
    });
    const { tuned } = this.target.profile.tiles;
    if (tuned) (tuned as Tilings)[products] = tiling;
    const isKept = this.options.store?.add({ [products]: tiling });
    if (!isKept) debug(1, () => "tuning: what was measured is not kept on disk");
  }

  /** The products of a graph that are worth tiles, those in the bodies of loops included. */
  private productsIn(roots: readonly Node[], given: readonly Node[], recordable: Recordable | null): TimedProduct[] {
    const found: TimedProduct[] = [];
    const { profile } = this.target;
    const note = (operands: readonly [Node, Node], precision: string | undefined) => {
      const shape = productShapeOf(operands, precision as MatmulPrecision | undefined, { note });
      found.push({ shape, operands });
    };
    const survey: Target = {
      ...this.target,
      profile: { ...profile, tiles: { ...profile.tiles, note } },
      encode: () => ({ bytes: new Uint8Array(0), numbers: [] }),
    };
    compile(roots, given, survey, () => null, recordable);
    return found;
  }
}
