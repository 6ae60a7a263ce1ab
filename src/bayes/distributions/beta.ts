/** The beta distribution, of probabilities. */
import { refusingSurplus } from "../../core/arity.js";
import { beta as betaNumbers } from "../../random/gamma.js";
import { type Tensor, where } from "../../tensor/index.js";
import type { Argument } from "../arguments/argument.js";
import { parameter } from "../arguments/parameter.js";
import { closedUnitInterval, unitInterval } from "../constraints/numbers.js";
import { bind, type Definition } from "../definition/definition.js";
import { deviance, logGammaPeak, magnitudeOf, mayCancel } from "../definition/deviance.js";
import { atEnd, finiteLog, finiteLog1m, isOne, isZero, withEnds } from "../definition/ends.js";
import { shareFloats } from "../numerics/float-range.js";
import { sumOfTerms, type Term } from "../numerics/terms.js";
import { RandomVariable } from "../variables/variable.js";

/** A number between 0 and 1 and what is left, with their logarithms. */
interface Share {
  readonly x: Tensor;
  readonly rest: Tensor;
  readonly logX: Tensor;
  readonly logRest: Tensor;
}

type Name = "successes" | "failures";

/** The terms for large parameters. */
function stableTerms({ x, rest, logX, logRest }: Share, successes: Tensor, failures: Tensor): readonly Term[] {
  const total = successes.add(failures);
  const excess = where(x.less(0.5), total.mul(x).sub(successes), failures.sub(total.mul(rest)));
  const logTotal = total.log();
  return [
    deviance(successes, excess, logTotal.add(logX))
      .add(deviance(failures, excess.neg(), logTotal.add(logRest)))
      .neg(),
    logX.add(logRest).neg(),
    logGammaPeak(successes).add(logGammaPeak(failures)).sub(logGammaPeak(total)),
  ];
}

function termsOf(
  share: Share,
  p: Readonly<Record<Name, Tensor>>,
  { successes, failures }: Readonly<Record<Name, Argument>>,
  isShort: boolean,
): readonly Term[] {
  if (!isShort && mayCancel(successes, failures)) return stableTerms(share, p.successes, p.failures);
  return [
    successes === 1 ? 0 : share.logX.mul(p.successes.sub(1)),
    failures === 1 ? 0 : share.logRest.mul(p.failures.sub(1)),
    p.successes.add(p.failures).lgamma(),
    p.successes.lgamma().neg(),
    p.failures.lgamma().neg(),
  ];
}

const betaDefinition: Definition<Name> = {
  name: "beta",
  parameters: { successes: parameter.positive, failures: parameter.positive },
  support: closedUnitInterval,
  domain: ({ successes, failures }) =>
    withEnds(unitInterval, closedUnitInterval, [
      { isEnd: isZero, argument: successes, value: 1 },
      { isEnd: isOne, argument: failures, value: 1 },
    ]),
  magnitude: (_, p) => magnitudeOf(p.successes.add(p.failures)),
  terms(x, p, given, isShort) {
    const share = { x, rest: x.neg().add(1), logX: finiteLog(x), logRest: finiteLog1m(x) };
    const ends = [
      given.successes === 1 ? 0 : atEnd(isZero(x), p.successes.sub(1)),
      given.failures === 1 ? 0 : atEnd(isOne(x), p.failures.sub(1)),
    ];
    const [first, ...others] = termsOf(share, p, given, isShort);
    return [sumOfTerms([first, ...ends]), ...others];
  },
  freeTerms(free, p, given, isShort) {
    const other = free.neg();
    const share = {
      x: free.sigmoid(),
      rest: other.sigmoid(),
      logX: other.softplus().neg(),
      logRest: free.softplus().neg(),
    };
    return termsOf(share, p, given, isShort);
  },
  draw: ({ key, shape, dtype }, p) => shareFloats(betaNumbers(key, p.successes, p.failures, shape, { dtype })),
  mean: (p) => p.successes.div(p.successes.add(p.failures)),
  variance(p) {
    const total = p.successes.add(p.failures);
    return p.successes.mul(p.failures).div(total.square().mul(total.add(1)));
  },
};

/** Beta numbers of mean successes/(successes + failures), which need not be whole. */
export const beta = refusingSurplus(
  "beta",
  (successes: Argument, failures: Argument): RandomVariable =>
    new RandomVariable(bind(betaDefinition, { successes, failures })),
);
