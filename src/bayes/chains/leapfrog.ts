/**
 * `posterior.leapfrog`: K leapfrog steps of many chains in one dispatch. The kernel is made of the model, is known by the SHA-256
 * of its code, and returns four chains: positions, momenta, gradients and log densities, each after its step.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape, sameShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import type { Backend, DeviceStorage, HandWritten } from "../../runtime/backend.js";
import { adopt, concat, Tensor, tensor } from "../../tensor/index.js";
import { densityOf } from "../kernels/density.js";
import { type WrittenLeapfrog, writeLeapfrog } from "../kernels/leapfrog.js";
import { type FreeNumbers, freeNumbersOf } from "../target/free-numbers.js";
import type { FloatDType, TargetDensity } from "../target/target.js";

/** Options of `posterior.leapfrog`. */
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

/** Leapfrog steps of the Hamiltonian p·p/2m - log density, from q and p of [dim] or [chains, dim]. */
export function leapfrog(target: TargetDensity, q: Tensor, momenta: Tensor, options: LeapfrogOptions): LeapfrogChains {
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
  const compiled = backend.handWritten(key, (context) => writeLeapfrog(density, chains, steps, context));
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

/** Runs so many steps per dispatch; each dispatch continues where the last one ended. */
function inParts(
  target: TargetDensity,
  q: Tensor,
  p: Tensor,
  options: LeapfrogOptions,
  atOnce: number,
): LeapfrogChains {
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
function memoryFor({ written }: HandWritten<WrittenLeapfrog>, backend: Backend, chains: number): DeviceStorage[] {
  return written.scratch.map(({ dtype, elements }) =>
    backend.zeros(elements * chains * (dtype === "f64" || dtype === "i64" || dtype === "u64" ? 8 : 4)),
  );
}
