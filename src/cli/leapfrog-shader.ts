/**
 * The shader of the tour's leapfrog stop: K steps of Hamiltonian dynamics for one unknown mean, written with Pumice's
 * assembler to the contract of `catalogue.leapfrogChain`. Observations are Normal(mean, 1), the mean itself Normal(0, 10).
 */
import type { spirv } from "../vulkan/index.js";

type Value = spirv.Value;

const PRIOR_PRECISION = 0.01;

export function normalLeapfrog({ ModuleBuilder }: typeof spirv): Uint32Array {
  const m = new ModuleBuilder();
  const input = (binding: number) => m.storageBuffer(m.f32, { binding, writable: false });
  const output = (binding: number) => m.storageBuffer(m.f32, { binding });
  const [q0, p0, extras] = [input(0), input(1), input(2)];
  const [qs, ps, gradients, densities] = [output(3), output(4), output(5), output(6)];
  const push = m.pushConstants([
    ["steps", m.u32],
    ["observations", m.u32],
    ["dimensions", m.u32],
    ["unused", m.u32],
    ["epsilon", m.f32],
  ]);
  const zero = m.constant(m.u32, 0);
  const one = m.constant(m.u32, 1);

  m.entry("main", { localSize: [1] }, (f) => {
    const eachObservation = (initial: Value, add: (sum: Value, observation: Value) => Value) =>
      f.fold(zero, push.observations, one, initial, (i, sum) => add(sum, extras.load(i)));
    const gradientAt = (q: Value) => eachObservation(f.mul(q, -PRIOR_PRECISION), (sum, y) => f.add(sum, f.sub(y, q)));
    const densityAt = (q: Value) =>
      eachObservation(f.mul(f.mul(q, q), -PRIOR_PRECISION / 2), (sum, y) => {
        const residual = f.sub(y, q);
        return f.sub(sum, f.mul(f.mul(residual, residual), 0.5));
      });
    const half = f.mul(push.epsilon, 0.5);
    const drift = f.mul(push.epsilon, extras.load(push.observations)); // times the inverse mass
    const start = q0.load(zero);
    f.fold(zero, push.steps, one, [start, p0.load(zero), gradientAt(start)], (step, [q, p, gradient]) => {
      const kicked = f.add(p, f.mul(half, gradient));
      const position = f.add(q, f.mul(drift, kicked));
      const slope = gradientAt(position);
      const momentum = f.add(kicked, f.mul(half, slope));
      qs.store(step, position);
      ps.store(step, momentum);
      gradients.store(step, slope);
      densities.store(step, densityAt(position));
      return [position, momentum, slope];
    });
  });
  return m.build();
}
