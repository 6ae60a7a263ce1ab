/** Categories as whole numbers: the place of each among the categories of its column. */
import { checkChoice } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { type Tensor, tensor } from "../../tensor/index.js";
import { inputNames } from "../core/feature-names.js";
import type { Fitted } from "../core/model.js";
import { transformer } from "../core/sorts.js";
import { columnsTable, type Table } from "../tables/table.js";
import {
  becoming,
  type CategoryOptions,
  categoriesIn,
  categoryOf,
  categoryTable,
  columnOfCategories,
  encoderSamples,
  rowsOfTable,
} from "./categories.js";

/** Options of `ordinalEncoder`. */
export interface OrdinalEncoderOptions extends CategoryOptions {
  /** "error" unless told: others than the categories of the fit are refused; "useEncodedValue": they become `unknownValue`. */
  readonly handleUnknown?: "error" | "useEncodedValue";
  readonly unknownValue?: number;
  /** What missing ones become: NaN unless told. */
  readonly encodedMissingValue?: number;
}

/** Categories by feature, and the number of each. */
export interface OrdinalEncoderLearned {
  /** Categories in order, [features, most + 1], infinity after the last: places of texts, or numbers. */
  readonly values: Tensor;
  /** The number of each category, then of missing and of unknown ones, [features, most + 3]. */
  readonly numbers: Tensor;
  readonly [name: string]: Tensor;
}

const methods = {
  /** The categories that numbers stand for, as a table; missing for others. */
  async inverseTransform(
    { learned, features }: Fitted<OrdinalEncoderLearned, OrdinalEncoderOptions>,
    encoded: Tensor,
  ): Promise<Table> {
    const [rows, known] = await Promise.all([encoded.array(), learned.values.cast("f64").array()]);
    const cells = (known as number[][]).map((values, j) =>
      (rows as number[][]).map((row) => {
        const value = values[row[j] as number] ?? Number.POSITIVE_INFINITY;
        return Number.isFinite(value) ? categoryOf(features, j, value) : null;
      }),
    );
    return columnsTable(cells.map((each, j) => columnOfCategories(features, j, each)));
  },
};

/** A whole number for each category, from 0 on in the order of the categories. */
export const ordinalEncoder = transformer<OrdinalEncoderLearned, OrdinalEncoderOptions, typeof methods>({
  kind: "ordinalEncoder",
  options: { categories: "any", handleUnknown: "text", unknownValue: "number", encodedMissingValue: "number" },
  samples: encoderSamples,
  allowsMissing: true,
  takesWeights: false,
  check({ handleUnknown, unknownValue }) {
    checkChoice("ordinalEncoder", "handleUnknown", handleUnknown, ["error", "useEncodedValue"]);
    if ((handleUnknown === "useEncodedValue") === (unknownValue !== undefined)) return;
    throw new ArgumentError(
      `ordinalEncoder: unknownValue is ${shown(unknownValue)}; { handleUnknown: "useEncodedValue" } takes one, and nothing else does.`,
    );
  },
  learn:
    ({ x, facts }, options) =>
    async () => {
      const { unknownValue = Number.NaN, encodedMissingValue = Number.NaN } = options;
      const sets = await categoriesIn("ordinalEncoder.fit", x, facts.features, options);
      const most = Math.max(...sets.values.map((list) => list.filter((value) => !Number.isNaN(value)).length));
      for (const [name, value] of Object.entries({ unknownValue, encodedMissingValue })) {
        if (!(Number.isInteger(value) && value >= 0 && value < most)) continue;
        throw new ArgumentError(`ordinalEncoder.fit: ${name} is ${value}, which is the number of a category.`);
      }
      const numbers = rowsOfTable(
        sets,
        (_, place) => place,
        () => encodedMissingValue,
        () => unknownValue,
      );
      return {
        values: categoryTable(sets.values, x),
        numbers: tensor(numbers, { device: x.device, dtype: x.dtype }) as Tensor,
      };
    },
  transform: ({ values, numbers }, x) => becoming(numbers, values, x).cast(x.dtype) as Tensor,
  featureNames: (_, features) => inputNames(features),
  methods,
});
