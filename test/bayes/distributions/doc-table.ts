/**
 * The table of distributions in docs/bayes.md, made from the distributions: their names, arguments and supports. `npm run docs`
 * writes it into the page, and doc-table.test.ts holds the page against it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { distributionNames, makerOf } from "./cases.js";
import { argumentsFor, parametersOf } from "./rule-arguments.js";

const PAGE = new URL("../../../../docs/bayes.md", import.meta.url);

/** The rows, in their order. */
const KINDS = [
  "numbers",
  "positive numbers",
  "numbers from 0 to 1",
  "counts and classes",
  "vectors and matrices",
  "series",
  "made of others",
  "anything",
] as const;
type Kind = (typeof KINDS)[number];

/** Distributions with other arguments than numbers and lists. */
const COMPOSITE: Readonly<Record<string, readonly [kind: Kind, text: string]>> = {
  truncatedNormal: ["numbers", "`truncatedNormal(location, scale, { low, high })`"],
  mvNormal: ["vectors and matrices", "`mvNormal(mean, { covariance })`, `{ cholesky }` or `{ precision }`"],
  wishart: ["vectors and matrices", "`wishart(freedom, scale)`"],
  inverseWishart: ["vectors and matrices", "`inverseWishart(freedom, scale)`"],
  zeroSumNormal: ["vectors and matrices", "`zeroSumNormal(n, scale)`"],
  lkjCholesky: ["vectors and matrices", "`lkjCholesky(n, concentration)`"],
  gaussianRandomWalk: ["series", "`gaussianRandomWalk(scale, { steps, drift, start })`"],
  ar: ["series", "`ar(coefficients, scale, { steps, intercept, start })`"],
  hmm: ["series", "`hmm(initial, transition, emission, { steps })`"],
  mixture: ["made of others", "`mixture(weights, components)`"],
  mixtureLogits: ["made of others", "`mixtureLogits(logits, components)`"],
  transformed: ["made of others", "`transformed(base, { to, from, logJacobian, support })`"],
  censored: ["made of others", "`censored(base, { low, high })`"],
  flat: ["anything", "`flat(constraint)`"],
  custom: ["anything", "`custom({ logDensity, support, sample })`"],
};

/** By the support, whatever the arguments. */
function kindOf(name: string): Kind {
  const made = argumentsFor(name).map((args) => makerOf(name)(...args).distribution);
  const [{ support, eventShape }] = made as [(typeof made)[number]];
  if (support.isDiscrete) return "counts and classes";
  if (eventShape.length > 0) return "vectors and matrices";
  const isWithin = (low: number, high: number) =>
    made.every(({ support: { range } }) => range !== undefined && range[0] >= low && range[1] <= high);
  if (isWithin(0, 1)) return "numbers from 0 to 1";
  return isWithin(0, Infinity) ? "positive numbers" : "numbers";
}

function entryOf(name: string): readonly [kind: Kind, text: string] {
  const parameters = parametersOf(name);
  if (parameters) return [kindOf(name), `\`${name}(${parameters.map((one) => one.name).join(", ")})\``];
  const known = COMPOSITE[name];
  if (!known) throw new Error(`doc-table.ts: say in COMPOSITE how ${name} is called.`);
  return known;
}

/** The table as Markdown, without the end of its last line. */
export function distributionTable(): string {
  const entries = distributionNames.map(entryOf);
  const rows = KINDS.map((kind) => {
    const texts = entries.flatMap(([own, text]) => (own === kind ? [text] : []));
    return `| ${kind} | ${texts.sort().join(" ")} |`;
  });
  return ["| kind | names |", "|---|---|", ...rows].join("\n");
}

/** From the heading of the table to its last row. */
const TABLE = /\| kind \| names \|\n(?:\|.*\n)*\|.*/;

export const tableInPage = (): string => TABLE.exec(readFileSync(PAGE, "utf8"))?.[0] ?? "";

export function writeTable(): void {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(
    PAGE,
    page.replace(TABLE, () => distributionTable()),
  );
}
