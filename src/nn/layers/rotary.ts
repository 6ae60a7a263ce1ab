/**
 * Rotary positions (Su et al. 2021): pairs of features turn by angles that grow with the position, so that products of queries and keys
 * depend on distances only. Frequencies can be changed for contexts longer than those of the training.
 */
import { checkChoice, checkOptions, type OptionKinds } from "../../core/arguments.js";
import { isFloat, isNarrowFloat } from "../../core/dtype.js";
import { ArgumentError, DTypeError, ShapeError } from "../../core/errors.js";
import { formatShape } from "../../core/shape.js";
import { shown } from "../../core/shown.js";
import { checkTensor, concat, stack, type Tensor, tensor } from "../../tensor/index.js";

/**
 * Other frequencies for longer contexts: positions divided by a factor (Chen et al. 2023), a larger base ("ntk"), or low frequencies divided only: in
 * Llama 3's way, or in YaRN's (Peng et al. 2023), which also makes scores steeper.
 */
export interface RotaryScaling {
  readonly kind: "linear" | "ntk" | "llama3" | "yarn";
  readonly factor: number;
  /** For "llama3" and "yarn": the tokens of the training; 8192. */
  readonly trainedTokens?: number;
  /** Turns in the training's context below which frequencies are divided, and above which they stay; 1 and 4, for "yarn" 1 and 32. */
  readonly lowTurns?: number;
  readonly highTurns?: number;
}

/** Options of `rotary`. */
export interface RotaryOptions {
  /** The longest wavelength over 2π; 10,000. */
  readonly base?: number;
  /** The share of features that turn, from the first on; 1. */
  readonly fraction?: number;
  /** Pairs are neighbours (0, 1), (2, 3), as in GPT-J, instead of halves (0, n/2), as in Llama; false. */
  readonly interleaved?: boolean;
  readonly scaling?: RotaryScaling;
}

const ROTARY: OptionKinds<RotaryOptions> = { base: "number", fraction: "number", interleaved: "flag", scaling: "any" };
// biome-ignore format: one row
const SCALING: OptionKinds<RotaryScaling> = { kind: "text", factor: "number", trainedTokens: "number", lowTurns: "number", highTurns: "number" };

/** Throws on options that are none, when a layer is made. */
export function checkRotary(operation: string, options: RotaryOptions): void {
  checkOptions(operation, options, ROTARY);
  const { base = 10_000, fraction = 1, scaling } = options;
  if (!(base > 0)) throw new ArgumentError(`${operation}: the base is a positive number, not ${shown(base)}.`);
  if (!(fraction > 0 && fraction <= 1)) {
    throw new ArgumentError(`${operation}: the fraction is above 0 and at most 1, not ${shown(fraction)}.`);
  }
  if (scaling === undefined) return;
  checkOptions(`${operation}, scaling`, scaling, SCALING);
  checkChoice(operation, "the kind of scaling", scaling.kind ?? "", ["linear", "ntk", "llama3", "yarn"]);
  if (scaling.factor > 0) return;
  throw new ArgumentError(`${operation}: the factor of scaling is a positive number, not ${shown(scaling.factor)}.`);
}

/** The features of x that turn: an even number. */
const turningOf = (size: number, { fraction = 1 }: RotaryOptions): number => 2 * Math.floor((size * fraction) / 2);

/** The angle by which each pair turns from one position to the next. */
function frequencies(turning: number, { base = 10_000, scaling }: RotaryOptions): number[] {
  const isWider = scaling?.kind === "ntk" && turning > 2;
  const wide = isWider ? base * scaling.factor ** (turning / (turning - 2)) : base;
  const plain = Array.from({ length: turning / 2 }, (_, i) => wide ** ((-2 * i) / turning));
  if (scaling?.kind === "linear") return plain.map((angle) => angle / scaling.factor);
  if (scaling?.kind === "llama3") return plain.map((angle) => slower(angle, scaling));
  if (scaling?.kind === "yarn") return plain.map((angle, i) => blended(angle, i, turning, base, scaling));
  return plain;
}

/** YaRN: pairs that turn often stay, those that turn rarely are divided, and between two places of the row it blends. */
function blended(angle: number, pair: number, turning: number, base: number, scaling: RotaryScaling): number {
  const { factor, trainedTokens = 8192, lowTurns = 1, highTurns = 32 } = scaling;
  const placeOf = (turns: number): number =>
    (turning * Math.log(trainedTokens / (turns * 2 * Math.PI))) / (2 * Math.log(base));
  const from = Math.max(0, Math.floor(placeOf(highTurns)));
  const to = Math.min(turning - 1, Math.ceil(placeOf(lowTurns)));
  const divided = Math.min(1, Math.max(0, (pair - from) / (to === from ? 0.001 : to - from)));
  return (divided * angle) / factor + (1 - divided) * angle;
}

/** The factor of turned features: YaRN's scores are steeper, the more so the longer the context. */
const strengthOf = ({ scaling }: RotaryOptions): number =>
  scaling?.kind === "yarn" && scaling.factor > 1 ? 0.1 * Math.log(scaling.factor) + 1 : 1;

/** Llama 3: frequencies with few turns in the training's context are divided, those with many stay, and between them it blends. */
function slower(angle: number, { factor, trainedTokens = 8192, lowTurns = 1, highTurns = 4 }: RotaryScaling): number {
  const turns = (trainedTokens * angle) / (2 * Math.PI);
  const kept = Math.min(1, Math.max(0, (turns - lowTurns) / (highTurns - lowTurns)));
  return kept * angle + ((1 - kept) * angle) / factor;
}

/**
 * x [..., tokens, features] with its features turned by the angles of the positions: `rotary(queries, arange(128))`. Positions are numbers
 * that broadcast to [..., tokens].
 */
export function rotary(x: Tensor, positions: Tensor, options: RotaryOptions = {}): Tensor {
  checkTensor("rotary", "x", x);
  checkTensor("rotary", "the positions", positions);
  checkRotary("rotary", options);
  if (!isFloat(x.dtype)) throw new DTypeError(`rotary takes floating-point numbers, not ${x.dtype}; cast x first.`);
  if (x.rank < 2 || positions.rank < 1) {
    throw new ShapeError(
      `rotary takes x [..., tokens, features] and positions [..., tokens], not ${formatShape(x.shape)} and ${formatShape(positions.shape)}.`,
    );
  }
  const size = x.shape[x.rank - 1] as number;
  const turning = turningOf(size, options);
  if (turning === 0) return x;
  const dtype = x.dtype === "f64" ? "f64" : "f32";
  const speeds = tensor(frequencies(turning, options), { dtype, device: x.device });
  const angles = positions.cast(dtype).expandDims(-1).mul(speeds) as Tensor;
  const wide = (isNarrowFloat(x.dtype) ? x.cast("f32") : x) as Tensor;
  const part = turning === size ? wide : (wide.at("...", `:${turning}`) as Tensor);
  const strength = strengthOf(options);
  const given = strength === 1 ? part : part.mul(strength);
  const turned = options.interleaved ? turnedNeighbours(given, angles) : turnedHalves(given, angles);
  const whole = turning === size ? turned : concat([turned, wide.at("...", `${turning}:`) as Tensor], { axis: -1 });
  return whole.cast(x.dtype) as Tensor;
}

/** (a, b) turned by an angle. */
const turnedPair = (a: Tensor, b: Tensor, angles: Tensor): [Tensor, Tensor] => {
  const [cos, sin] = [angles.cos(), angles.sin()];
  return [a.mul(cos).sub(b.mul(sin)), b.mul(cos).add(a.mul(sin))];
};

function turnedHalves(x: Tensor, angles: Tensor): Tensor {
  const [a, b] = x.split(2, { axis: -1 }) as [Tensor, Tensor];
  return concat(turnedPair(a, b, angles), { axis: -1 });
}

function turnedNeighbours(x: Tensor, angles: Tensor): Tensor {
  const pairs = x.reshape([...x.shape.slice(0, -1), (x.shape[x.rank - 1] as number) / 2, 2]);
  const [a, b] = [pairs.at("...", 0), pairs.at("...", 1)] as [Tensor, Tensor];
  return stack(turnedPair(a, b, angles), { axis: -1 }).reshape(x.shape);
}
