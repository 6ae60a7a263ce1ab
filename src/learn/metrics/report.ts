/** The report of a classification: precision, recall, F1 and support of each class and their averages, as values that print as a table. */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import type { Label, Labels } from "../core/targets.js";
import { accuracy } from "./agreement.js";
import { classesAmong, LABELS, type LabelOptions } from "./labels.js";
import { precisionRecallFScore } from "./shares.js";

/** Options of `classificationReport`. */
export interface ReportOptions extends LabelOptions {
  /** Names of the classes, in their order: the labels unless told. */
  readonly names?: readonly string[];
  /** Digits after the point when it is printed: 2 unless told. */
  readonly digits?: number;
  /** The value of 0 / 0: 0 unless told. */
  readonly zeroDivision?: number;
}

/** A line of a report. */
export interface ReportLine {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  /** How often the class is right: the sum of the weights of its samples. */
  readonly support: number;
}

/** A report. `String(report)` and `console.log` show it as a table. */
export interface ClassificationReport {
  /** By the names of the classes. */
  readonly classes: Readonly<Record<string, ReportLine>>;
  /** The share of samples that are right; null where `labels` leaves out some that occur. */
  readonly accuracy: number | null;
  /** Of all decisions together; the same as the accuracy unless `labels` leaves some out. */
  readonly micro: ReportLine;
  readonly macro: ReportLine;
  readonly weighted: ReportLine;
  toString(): string;
}

/** Precision, recall and F1 of each class, and their averages. Reads values. */
export function classificationReport(
  predictions: Labels,
  targets: Labels,
  options: ReportOptions = {},
): ClassificationReport {
  const operation = "metrics.classificationReport";
  checkOptions(operation, options, { ...LABELS, names: "any", digits: "number", zeroDivision: "number" });
  const { names: given, digits = 2, zeroDivision, ...rest } = options;
  const all = classesAmong(operation, [predictions, targets]);
  const labels: readonly Label[] = options.labels ?? all;
  const names = given ?? labels.map(String);
  if (names.length !== labels.length) {
    throw new ArgumentError(`${operation}: there are ${names.length} names and ${labels.length} classes.`);
  }
  const lines = (average: "none" | "micro" | "macro" | "weighted"): ReportLine[] => {
    const shares = precisionRecallFScore(predictions, targets, { ...rest, labels, average, zeroDivision });
    const [precision, recall, f1] = [shares.precision, shares.recall, shares.fBeta].map((x) => numbers(x));
    const support = shares.support ? numbers(shares.support) : [];
    return (precision as number[]).map((value, i) => ({
      precision: value,
      recall: recall?.[i] as number,
      f1: f1?.[i] as number,
      support: support[i] ?? total,
    }));
  };
  let total = 0;
  const byClass = lines("none");
  total = byClass.reduce((sum, { support }) => sum + support, 0);
  const average = (name: "micro" | "macro" | "weighted") => lines(name)[0] as ReportLine;
  const { labels: _, ...placing } = rest;
  const isWhole = all.every((label) => labels.includes(label));
  const report = {
    classes: Object.fromEntries(byClass.map((line, i) => [names[i] as string, line])),
    accuracy: isWhole ? (numbers(accuracy(predictions, targets, placing))[0] as number) : null,
    micro: average("micro"),
    macro: average("macro"),
    weighted: average("weighted"),
  };
  const text = () => tableOf(report, digits);
  return Object.defineProperties(report, {
    toString: { value: text },
    [Symbol.for("nodejs.util.inspect.custom")]: { value: text },
  });
}

const numbers = (x: { dataSync(): unknown }): number[] => Array.from(x.dataSync() as ArrayLike<number>);

type Values = Pick<ClassificationReport, "classes" | "accuracy" | "micro" | "macro" | "weighted">;

/** The report in columns, as scikit-learn prints it. */
function tableOf({ classes, accuracy, micro, macro, weighted }: Values, digits: number): string {
  const averages: [string, ReportLine][] = [
    ...(accuracy === null ? [["micro avg", micro] as [string, ReportLine]] : []),
    ["macro avg", macro],
    ["weighted avg", weighted],
  ];
  const rows = [...Object.entries(classes), ...averages];
  const first = Math.max("weighted avg".length, digits, ...rows.map(([name]) => name.length));
  const cell = (text: string): string => text.padStart(9);
  const count = (support: number): string => String(Number(support.toFixed(digits)));
  const row = ([name, line]: [string, ReportLine]): string =>
    `${name.padStart(first)} ${[line.precision, line.recall, line.f1].map((x) => ` ${cell(x.toFixed(digits))}`).join("")} ${cell(count(line.support))}`;
  const head = `${"".padStart(first)} ${["precision", "recall", "f1"].map((name) => ` ${cell(name)}`).join("")} ${cell("support")}`;
  const exact =
    accuracy === null
      ? []
      : [
          `${"accuracy".padStart(first)} ${` ${cell("")}`.repeat(2)} ${cell(accuracy.toFixed(digits))} ${cell(count(macro.support))}`,
        ];
  return [head, "", ...Object.entries(classes).map(row), "", ...exact, ...averages.map(row), ""].join("\n");
}
