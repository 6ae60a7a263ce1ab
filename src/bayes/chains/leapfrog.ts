/**
 * Chain synthesis in its plain form: K leapfrog steps of many chains in one dispatch. The kernel is made of the model, is
 * known by the SHA-256 of its code, and returns four chains: positions, momenta, gradients and log densities, each after its
 * step. `posterior.leapfrog` calls this; it is also the smallest example of a kernel around a density.
 */
import { computeType } from "../../compiler/elements/elements.js";
import { arrayPlace, columnPlace } from "../../compiler/inline/place.js";
import type { Kernel, Value } from "../../compiler/ir/ir.js";
import { roundsWithin } from "../../compiler/ir/loop-rounds.js";
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Backend, DeviceStorage, HandWritten, WritingContext } from "../../runtime/backend.js";
import { adopt, concat, Tensor, tensor } from "../../tensor/index.js";
import { type FreeNumbers, freeNumbersOf } from "../free-numbers.js";
import {
  ChainBuilder,
  type ChainDensity,
  densityOf,
  type FloatDType,
  type ScratchBuffer,
  type Target,
} from "./density.js";

export interface LeapfrogOptions {
  /** The size of a step; a negative one goes back in time. */
  readonly eps: number;
  /** The inverse mass of each free number, [dim], positive; ones unless told. */
  readonly invMass?: FreeNumbers;
  readonly steps: number;
}

/** After each step: [steps, dim] and [steps], with an axis of chains behind the first where there are several. */
export interface LeapfrogChains {
  readonly q: Tensor;
  readonly p: Tensor;
  readonly grad: Tensor;
  readonly logp: Tensor;
  /** The SHA-256 of the kernel's code. */
  readonly address: string;
}

interface WrittenLeapfrog {
  readonly kernel: Kernel;
  /** Of a dispatch: fewer than were asked for where the device limits the rounds of loops. */
  readonly steps: number;
  readonly scratch: readonly ScratchBuffer[];
}

/** Leapfrog steps of the Hamiltonian p·p/2m - log density, from q and p of [dim] or [chains, dim]. */
export function leapfrog(target: Target, q: Tensor, momenta: Tensor, options: LeapfrogOptions): LeapfrogChains {
  const { dim } = target;
  check(options);
  const { steps } = options;
  for (const x of [q, momenta]) {
    if (!(x instanceof Tensor)) throw new ArgumentError(`leapfrog: q and p are tensors, not ${shown(x)}.`);
  }
  const isOne = q.rank === 1;
  if ((!isOne && q.rank !== 2) || q.shape.at(-1) !== dim || !sameShape(q.shape, momenta.shape)) {
    throw new ShapeError(
      `leapfrog: q and p are [${dim}] or [chains, ${dim}], not ${formatShape(q.shape)} and ${formatShape(momenta.shape)}.`,
    );
  }
  const dtype = dtypeOf(q, momenta);
  const p = momenta.to(q.device);
  const density = densityOf(target, dtype, q.device, { isNormalized: true });
  const { backend } = density;
  const chains = isOne ? 1 : q.shape[0];
  const like = { dtype, device: q.device } as const;
  const given = options.invMass ?? new Array<number>(dim).fill(1);
  const masses = given instanceof Tensor ? given : freeNumbersOf(given);
  if (!masses) throw new ArgumentError(`leapfrog: invMass is ${shown(given)}; it is a vector [${dim}].`);
  const invMass = masses instanceof Tensor ? masses.to(q.device).cast(dtype) : tensor([...masses], like);
  if (!sameShape(invMass.shape, [dim])) throw new ShapeError(`leapfrog: invMass is [${dim}], not [${invMass.shape}].`);
  checkMasses(masses);

  const key = `leapfrog ${chains}×${steps} ${density.fn.key}`;
  const compiled = backend.handWritten(key, (context) => writeWithin(density, chains, steps, context));
  if (compiled.written.steps < steps) return inParts(target, q, p, options, compiled.written.steps);
  const columns = (x: Tensor) => x.cast(dtype).reshape(chains, dim).T;
  const inputs = [columns(q), columns(p), tensor([options.eps], like), invMass];
  backend.realize(inputs.map(({ node }) => node));
  const size = { f32: 4, f64: 8 }[dtype] * steps * chains;
  const results = [dim, dim, dim, 1].map((elements) => backend.zeros(size * elements));
  const lent = memoryFor(compiled, backend, chains);
  compiled.run([...density.data, ...inputs.map(({ node }) => node.storage as DeviceStorage), ...results, ...lent]);
  for (const memory of lent) memory.dispose();
  const shaped = (memory: DeviceStorage, elements: number) => {
    const whole = adopt(memory, [steps, elements, chains], dtype, backend).permute(0, 2, 1);
    const shape = [steps, ...(isOne ? [] : [chains]), ...(elements === 1 ? [] : [elements])];
    return whole.reshape(elements === dim && dim === 1 ? [...shape, 1] : shape);
  };
  const [qs, ps, grads] = results.slice(0, 3).map((memory) => shaped(memory, dim));
  const logp = adopt(results[3], isOne ? [steps] : [steps, chains], dtype, backend);
  return { q: qs, p: ps, grad: grads, logp, address: compiled.address };
}

/** So many steps at a time, each part from where the one before has led. */
function inParts(target: Target, q: Tensor, p: Tensor, options: LeapfrogOptions, atOnce: number): LeapfrogChains {
  const parts: LeapfrogChains[] = [];
  for (let done = 0; done < options.steps; done += atOnce) {
    const before = parts.at(-1);
    const steps = Math.min(atOnce, options.steps - done);
    parts.push(leapfrog(target, before?.q.at(-1) ?? q, before?.p.at(-1) ?? p, { ...options, steps }));
  }
  const whole = (name: "q" | "p" | "grad" | "logp") => concat(parts.map((each) => each[name]));
  return { q: whole("q"), p: whole("p"), grad: whole("grad"), logp: whole("logp"), address: parts[0].address };
}

function check(options: LeapfrogOptions): void {
  checkOptions("leapfrog", options, { eps: "number", invMass: "any", steps: "number" });
  const { eps, steps } = options;
  if (!Number.isFinite(eps)) {
    throw new ArgumentError(`leapfrog: eps is ${eps}; it is a finite number, the size of a step.`);
  }
  if (!Number.isSafeInteger(steps) || steps < 1) {
    throw new ArgumentError(`leapfrog: steps is ${steps}; it is a whole number of at least 1.`);
  }
}

function dtypeOf(q: Tensor, p: Tensor): FloatDType {
  if (q.dtype !== p.dtype) {
    throw new DTypeError(`leapfrog: q is ${q.dtype} and p is ${p.dtype}; they are of one dtype, so cast one of them.`);
  }
  if (q.dtype === "f32" || q.dtype === "f64") return q.dtype;
  throw new DTypeError(`leapfrog: q is ${q.dtype}; positions and momenta are f32 or f64.`);
}

/** Tensors that have been looked at: reading one waits for the device. */
const checkedMasses = new WeakSet<Tensor>();

function checkMasses(masses: Tensor | readonly number[]): void {
  if (masses instanceof Tensor && (masses.node.isAbstract || checkedMasses.has(masses))) return;
  const values = masses instanceof Tensor ? Array.from(masses.dataSync() as ArrayLike<number>) : masses;
  const bad = values.findIndex((value) => !(value > 0 && value < Infinity));
  if (bad >= 0) throw new ArgumentError(`leapfrog: invMass[${bad}] is ${values[bad]}; inverse masses are positive.`);
  if (masses instanceof Tensor) checkedMasses.add(masses);
}

/** The scratch memory a kernel of chains asks for. */
export function memoryFor(
  { written }: HandWritten<WrittenLeapfrog>,
  backend: Backend,
  chains: number,
): DeviceStorage[] {
  return written.scratch.map(({ dtype, elements }) =>
    backend.zeros(elements * chains * (dtype === "f64" || dtype === "i64" || dtype === "u64" ? 8 : 4)),
  );
}

/** As many of the steps as the loops of a thread may take. */
function writeWithin(density: ChainDensity, chains: number, steps: number, context: WritingContext): WrittenLeapfrog {
  const { maxRounds } = density.backend;
  let written = writeLeapfrog(density, chains, steps, context);
  while (written.steps > 1 && roundsWithin(written.kernel, maxRounds) > maxRounds) {
    written = writeLeapfrog(density, chains, Math.ceil(written.steps / 2), context);
  }
  return written;
}

function writeLeapfrog(density: ChainDensity, chains: number, steps: number, context: WritingContext): WrittenLeapfrog {
  const { dim, dtype } = density;
  const builder = new ChainBuilder(`leapfrog[${chains}×${steps}]`, density, chains, 1, context);
  const { k } = builder;
  const type = computeType(dtype);
  const i = (value: number) => k.constant("i32", value);
  const from = [0, 1].map(() => k.buffer(dtype, false));
  const [epsBuffer, massBuffer] = [0, 1].map(() => k.buffer(dtype, false));
  const to = [0, 1, 2, 3].map(() => k.buffer(dtype, true));
  const [q, p, g] = [0, 1, 2].map(() => arrayPlace(k, type, dim));
  const each = (body: (d: Value) => void) => {
    k.loop(dim, [], (d) => {
      body(d);
      return [];
    });
  };
  const first = (d: Value) => k.binary("add", k.binary("mul", d, i(chains)), k.row);
  each((d) => {
    q.store(d, k.load(from[0], first(d), type));
    p.store(d, k.load(from[1], first(d), type));
  });
  const eps = k.load(epsBuffer, i(0), type);
  const zero = k.constant(type, 0);
  each((d) => g.store(d, zero));
  // The first round stands still: it finds the gradient to start with, so that the density is written once.
  k.loop(steps + 1, [], (round) => {
    const isMoving = k.compare("gt", round, i(0));
    const move = k.select(isMoving, eps, zero);
    const half = k.binary("mul", move, k.constant(type, 0.5));
    const kick = (d: Value) => k.binary("add", p.load(d), k.binary("mul", half, g.load(d)));
    each((d) => {
      const moved = kick(d);
      p.store(d, moved);
      const velocity = k.binary("mul", k.load(massBuffer, d, type), moved);
      q.store(d, k.binary("add", q.load(d), k.binary("mul", move, velocity)));
    });
    const logp = builder.evaluate(q, g);
    k.when(isMoving, () => {
      const before = k.binary("sub", round, i(1));
      const results = to.map((buffer, r) =>
        columnPlace(k, buffer, type, k.binary("mul", before, i(r === 3 ? 1 : dim))),
      );
      each((d) => {
        p.store(d, kick(d));
        [q, p, g].forEach((place, r) => {
          results[r].store(d, place.load(d));
        });
      });
      results[3].store(i(0), logp);
      return [];
    });
    return [];
  });
  return { kernel: k.finish(), steps, scratch: builder.scratch.buffers };
}
