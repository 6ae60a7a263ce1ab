/** Everyday programs that iterate a state and look at it now and then, not after the same number of steps every time. */
import { jit, type Tensor, zeros } from "../../src/index.js";
import type { EverydayProgram } from "./program.js";
import { laplacian, number } from "./simulations.js";

type Wave = [height: Tensor, speed: Tensor];

const waveAtRest = (): Wave => [zeros([64, 64]).set("24:40", "24:40", 1), zeros([64, 64])];

function waveStep(u: Tensor, v: Tensor): Wave {
  const speed = v.add(laplacian(u).mul(0.1)).mul(0.99);
  return [u.add(speed), speed];
}

export const irregular: readonly EverydayProgram[] = [
  {
    name: "wave",
    title: "a damped wave on 64×64, its energy read after 3, 10, 5, 12 … steps",
    rounds: 24,
    async plain(rounds) {
      let [u, v] = waveAtRest();
      let energy = 0;
      for (let i = 0; i < rounds; i++) {
        for (let step = 0; step < 3 + ((i * 7) % 12); step++) [u, v] = waveStep(u, v);
        energy = await number(u.square().add(v.square()).sum());
      }
      return energy;
    },
    async expert(rounds) {
      const next = jit(waveStep);
      const energyOf = jit((u: Tensor, v: Tensor) => u.square().add(v.square()).sum());
      let [u, v] = waveAtRest();
      let energy = 0;
      for (let i = 0; i < rounds; i++) {
        for (let step = 0; step < 3 + ((i * 7) % 12); step++) {
          const before = [u, v];
          [u, v] = next(u, v);
          for (const each of before) each.dispose();
        }
        energy = await number(energyOf(u, v));
      }
      return energy;
    },
  },
];
