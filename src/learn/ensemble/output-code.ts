/**
 * Many classes by a code (Dietterich & Bakiri 1995): each class is a row of bits, a classifier of two learns each bit, and the class whose
 * row is nearest to what they say is predicted. More bits than classes correct some errors.
 */
import { checkWhole } from "../../core/arguments.js";
import { bitsFrom } from "../../core/seeded-order.js";
import { stack, type Tensor, tensor } from "../../tensor/index.js";
import type { AnyEstimator } from "../compose/steps.js";
import { categorySamples } from "../core/samples.js";
import { checkPositive } from "../core/settings.js";
import { classifier } from "../core/sorts.js";
import { checkSeveral } from "../linear/logistic.js";
import { checkMember, confidenceOf, fitMember, type Member } from "./members.js";

/** Options of `outputCode`. */
export interface OutputCodeOptions {
  /** The classifier of two classes. */
  readonly estimator: AnyEstimator;
  /** Bits of a class, for each class there is: 1.5 unless told. */
  readonly codeSize?: number;
  /** Decides the bits: 0 unless told. */
  readonly seed?: number;
}

/** A model for each bit. */
interface Coded {
  readonly models: readonly Member[];
  /** The bits of each class, [classes, bits]: 1 and -1, or 1 and 0 where estimators have probabilities and no decisions. */
  readonly codeBook: Tensor;
}

/** Books that are drawn until one tells all classes apart, at most. */
const MOST_BOOKS = 1000;

/** Bits by class. Each parts the classes; and no two classes have the same where there are enough of them. */
function drawnBook(classes: number, bits: number, seed: number): number[][] {
  const random = bitsFrom([0, seed]);
  const column = (): number[] => {
    for (;;) {
      const drawn = Array.from({ length: classes }, () => random() >>> 31);
      if (new Set(drawn).size === 2) return drawn;
    }
  };
  const book = (): number[][] => {
    const columns = Array.from({ length: bits }, column);
    return Array.from({ length: classes }, (_, k) => columns.map((each) => each[k] as number));
  };
  let found = book();
  for (let tries = 1; tries < MOST_BOOKS && new Set(found.map(String)).size < classes; tries++) found = book();
  return found;
}

/** Each class is a row of bits, and each bit a fit. */
export const outputCode = classifier<Coded, OutputCodeOptions>({
  kind: "outputCode",
  options: { estimator: "any", codeSize: "number", seed: "number" },
  samples: categorySamples,
  allowsMissing: ({ estimator }) => estimator.allowsMissing ?? false,
  takesWeights: ({ estimator }) => estimator.takesWeights ?? true,
  check({ estimator, codeSize = 1.5, seed = 0 }) {
    checkMember("outputCode", "estimator", estimator, true);
    checkPositive("outputCode", "codeSize", codeSize);
    checkWhole("outputCode", "seed", seed, 0);
  },
  async *learn(data, { estimator, codeSize = 1.5, seed = 0 }) {
    const { x, y, classes } = data;
    checkSeveral("outputCode", classes, data.facts.classes);
    const bits = Math.max(1, Math.floor(classes * codeSize));
    const book = tensor(drawnBook(classes, bits, seed), { device: x.device, dtype: "i32" }) as Tensor;
    const models: Member[] = [];
    for (let bit = 0; bit < bits; bit++) {
      const own = book.at(":", bit).take(y) as Tensor;
      models.push(await fitMember(estimator, { ...data, y: own }, null));
      yield { step: bit + 1, steps: bits };
    }
    const decides = models[0]?.decisionFunction !== undefined;
    const codeBook = (decides ? book.mul(2).sub(1) : book).cast(x.dtype).realize() as Tensor;
    return { models, codeBook };
  },
  /** The nearer a class, the higher: 2 a·b - b², which is a² - |a - b|². */
  scores({ models, codeBook }, x) {
    const said = stack(
      models.map((model) => confidenceOf(model, x).values),
      { axis: 1 },
    );
    return said
      .matmul(codeBook.T)
      .mul(2)
      .sub(codeBook.square().sum({ axis: 1 })) as Tensor;
  },
});
