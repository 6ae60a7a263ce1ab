/**
 * A posterior's log density and gradient as a closed function of the free numbers, with data as its other parameters: what
 * every kernel of chains is built around. Equal functions of other data have equal keys, so kernels are found again.
 */
import {
  dataPlace,
  type ElementSettings,
  type InlineContext,
  inline,
  isForLanes,
  KernelBuilder,
  type Place,
  Scratch,
  type Value,
} from "../../compiler/inline/kernel-language.js";
import { ArgumentError, DTypeError } from "../../core/errors.js";
import type { GraphFunction } from "../../graph/function.js";
import type { Backend, DeviceStorage, WritingContext } from "../../runtime/backend.js";
import { backendFor, type Tensor } from "../../tensor/index.js";
import { closed } from "../../transforms/closed.js";
import type { FloatDType, TargetDensity } from "../target/target.js";

export interface ChainDensity {
  readonly dim: number;
  readonly dtype: FloatDType;
  readonly backend: Backend;
  /** Parameters: data, then the free numbers. Results: the log density and its gradient. */
  readonly fn: GraphFunction;
  /** Whether the lanes of a row can share its work. */
  readonly isForLanes: boolean;
  /** Memory of the data, and the tensors that hold it. */
  readonly data: readonly DeviceStorage[];
  readonly captured: readonly Tensor[];
  /** The longest axis of the data: about how many observations there are. */
  readonly longest: number;
}

/** Tracing takes longer than many a run: what was traced of a target stays with it, by device and variant. */
const traced = new WeakMap<TargetDensity, Map<Backend, Map<string, ChainDensity>>>();

/** `isNormalized`: constants are kept, so that densities are those of `logDensity`. */
export function densityOf(
  target: TargetDensity,
  dtype: FloatDType,
  device?: string,
  { isNormalized = false }: { readonly isNormalized?: boolean } = {},
): ChainDensity {
  const backend = backendFor(device, "sample");
  const byBackend = traced.get(target) ?? new Map<Backend, Map<string, ChainDensity>>();
  const byVariant = byBackend.get(backend) ?? new Map<string, ChainDensity>();
  traced.set(target, byBackend.set(backend, byVariant));
  const variant = `${dtype} ${isNormalized}`;
  const density = byVariant.get(variant) ?? trace(target, dtype, backend, isNormalized);
  byVariant.set(variant, density);
  return density;
}

function trace(target: TargetDensity, dtype: FloatDType, backend: Backend, normalized: boolean): ChainDensity {
  if (target.dim === 0) {
    throw new ArgumentError(
      "sample: the model has no free numbers; every variable is observed, nothing is left to draw.",
    );
  }
  const { body, captured } = closed(
    (u) => target.logDensityAndGrad(u, { normalized }),
    [{ shape: [target.dim], dtype, device: backend }],
  );
  for (const { dtype: found } of body.results) {
    if (found !== dtype) throw new DTypeError(`sample: the log density is ${found}, the free numbers ${dtype}.`);
  }
  return {
    dim: target.dim,
    dtype,
    backend,
    fn: body,
    isForLanes: isForLanes(body),
    data: captured.map(({ node }) => node.storage as DeviceStorage),
    captured,
    longest: Math.max(1, ...captured.flatMap(({ shape }) => [...shape])),
  };
}

/** Memory that a kernel of chains takes behind the data: what its writer names, then scratch. */
export interface ScratchBuffer {
  readonly slot: number;
  readonly dtype: string;
  /** For every chain. */
  readonly elements: number;
}

/** A kernel of one row per chain that evaluates the density: data are its first buffers. */
export class ChainBuilder {
  readonly k: KernelBuilder;
  readonly scratch: Scratch;
  readonly settings: ElementSettings;
  private readonly context: InlineContext;
  private readonly data: readonly Place[];

  constructor(
    name: string,
    private readonly density: ChainDensity,
    chains: number,
    lanes: number,
    context: WritingContext,
  ) {
    this.k = new KernelBuilder(name, chains, lanes);
    this.scratch = new Scratch(this.k, context.profile.rowCacheBytes > 0);
    // A quotient of a GPU is off by an ulp or two, which no chain minds; to round it correctly takes fifty instructions, and
    // eight schools would be seventeen times as long.
    this.settings = density.backend.abilities.hasNativeDivision ? { division: "native" } : context.settings;
    this.context = { k: this.k, settings: this.settings, scratch: this.scratch };
    const { parameters } = density.fn;
    this.data = parameters.slice(0, -1).map(({ dtype }) => dataPlace(this.k, dtype));
  }

  /** Writes an evaluation at the free numbers; returns the log density. All lanes see the gradient afterwards. */
  evaluate(q: Place, gradient: Place): Value {
    const [logDensity] = inline(this.context, this.density.fn, [...this.data, q], ["value", gradient]);
    return logDensity;
  }
}
