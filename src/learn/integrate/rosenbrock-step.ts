/**
 * Steps of Rodas5P for stiff systems (Steinebach 2023): a Rosenbrock method of order 5 with errors of order 4, L-stable. Its stages
 * are linear equations with one matrix, 1/(γh) - J, instead of the equations without a closed solution of implicit methods.
 */
import { luFactor, luSolve } from "../../linalg/lu.js";
import { eye, type Tensor, zerosLike } from "../../tensor/index.js";
import { jvp } from "../../transforms/grad.js";
import { jacobian } from "../../transforms/matrices.js";
import { type Method, rootMeanSquare, type Step, type System, weighted } from "./method.js";

const GAMMA = 0.21193756319429014;

/** Factors of the increments before, in the state of each stage but the first. */
const STATES = [
  [3],
  [2.849394379747939, 0.45842242204463923],
  [-6.954028509809101, 2.489845061869568, -10.358996098473584],
  [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
  [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946],
  [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1],
  [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1, 1],
];

/** Factors of the increments before, over h, on the right side of each stage but the first. */
const SIDES = [
  [-14.155112264123755],
  [-17.97296035885952, -2.859693295451294],
  [147.12150275711716, -1.41221402718213, 71.68940251302358],
  [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
  [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471],
  [
    30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
    -28.087943162872662,
  ],
  [
    37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
    -54.66780262877968, -9.48861652309627,
  ],
];

/** The shares of the step at which the stages lie, and the factors of h·∂f/∂t in them. */
const TIMES = [0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1];
const DRIFTS = [GAMMA, -0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0];

/** The end is the state of the last stage and its increment, which is the error of the state before. */
const WEIGHTS = [...STATES[6], 1];

/** The continuous solution is (1 - θ)·y + θ·(y₁ + (1 - θ)·(a₁ + θ·(a₂ + θ·a₃))), with these factors of the increments in a₁, a₂, a₃. */
const BETWEEN = [
  [
    25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
    1.1241088310450404, 0.4272876194431874, -0.17202221070155493,
  ],
  [
    -9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
    15.98066361424651, -6.789040303419874, -6.710236069923372,
  ],
  [
    11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
    -59.78993625266729, -0.15582684282751913, 4.883087185713722,
  ],
];

export const rodas5p: Method = {
  order: 5,
  control: [1 / 5, 0],
  isAdaptive: true,
  dense: WEIGHTS.map((weight, i) => {
    const [a, b, c] = BETWEEN.map((row) => row[i]);
    return [weight + a, b - a, c - b, -c];
  }),
  step: rosenbrockStep,
  errorOf: ({ increments }, allowed) => rootMeanSquare(increments[7].div(allowed) as Tensor),
};

function rosenbrockStep(system: System, t: Tensor, y: Tensor, h: Tensor, slope: Tensor): Step {
  const { dtype, device } = y;
  const slopes = (jacobian((state: Tensor) => system(t, state), { mode: "forward" }) as (state: Tensor) => Tensor)(y);
  const one = zerosLike(t).add(1) as Tensor;
  const [, drift] = jvp((time: Tensor) => system(time, y), [t], [one]) as [Tensor, Tensor];
  const unit = eye(y.size, { dtype, device });
  const factors = luFactor(unit.div(h.mul(GAMMA)).sub(slopes) as Tensor);
  const increments: Tensor[] = [];
  for (let i = 0; i < TIMES.length; i++) {
    const state = i === 0 ? y : (y.add(weighted(STATES[i - 1], increments) as Tensor) as Tensor);
    const at = t.add(h.mul(TIMES[i])) as Tensor;
    let side = i === 0 ? slope : system(at, state);
    if (i > 0) side = side.add((weighted(SIDES[i - 1], increments) as Tensor).div(h)) as Tensor;
    if (DRIFTS[i] !== 0) side = side.add(drift.mul(h.mul(DRIFTS[i]))) as Tensor;
    increments.push(luSolve(factors, side) as Tensor);
  }
  return { next: y.add(weighted(WEIGHTS, increments) as Tensor) as Tensor, increments, slope: null };
}
