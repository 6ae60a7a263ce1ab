/**
 * The report as one HTML page that needs nothing else: what check() says, the summary, and for every variable how its chains
 * ran. report.ts writes it to a file.
 */
import { checkOptions } from "../../core/arguments.js";
import { ArgumentError } from "../../core/errors.js";
import { htmlPage } from "../../plots/page.js";
import { escapeText } from "../../plots/svg.js";
import { type Check, check, LIMITS } from "../diagnostics/check.js";
import { eBfmi } from "../diagnostics/energy.js";
import type { SummaryRow } from "../diagnostics/scalar-summary.js";
import { formatValue, type Summary, summary } from "../diagnostics/summary.js";
import { type Chains, checkDraws, type Draws, type NameFilter } from "../draws/draws.js";
import { chainGroups, MOST_GROUPS } from "./chain-groups.js";
import { autocorrelationPlot } from "./plots/autocorrelation.js";
import { densityPlot } from "./plots/density.js";
import { energyPlot } from "./plots/energy.js";
import { pairsPlot, pairsWidth } from "./plots/pairs.js";
import { rankPlot } from "./plots/ranks.js";
import { tracePlot } from "./plots/trace.js";
import { treeDepthPlot } from "./plots/tree-depth.js";
import { SCRIPT } from "./script.js";
import { STYLE } from "./style.js";

/** Options of `report`. */
export interface ReportOptions {
  readonly title?: string;
  /** The variables to draw; all that fit, those with the worst diagnostics first, when it is not given. */
  readonly variables?: NameFilter;
  /** The variables of the pair plot: at least two scalars, of which the first five are drawn. */
  readonly pairs?: NameFilter;
}

/** Variables that get plots when nobody chose: each takes about 30 kB. */
const MOST_PANELS = 60;
const MOST_PAIRS = 5;
/** Rows of the table. */
const MOST_ROWS = 2000;

/** The page. `sampled` are variables that must vary, as `check` takes them. */
export function reportPage(draws: Draws, options: ReportOptions = {}, sampled: readonly string[] = []): string {
  checkDraws("report", draws);
  checkOptions("report", options, { title: "text", variables: "any", pairs: "any" });
  const title = options.title ?? "Posterior report";
  const table = summary(draws);
  const found = check(draws, table, sampled);
  const names = options.variables === undefined ? panelNames(table) : draws.match(options.variables);
  const size = `${draws.chains} chain${draws.chains === 1 ? "" : "s"} × ${draws.length} draws, ${table.rows.length} variables`;
  return htmlPage({
    title,
    facts: size,
    main: `${verdictSection(found)}
${summarySection(table, new Map(names.map((name, i) => [name, `v${i}`])))}
${draws.length > 0 ? variablesSection(draws, table, names) : ""}
${pairsSection(draws, table, found, options.pairs)}
${samplerSection(draws)}`,
    footer: `Made by Pumice. R-hat above ${LIMITS.rHat} and fewer than ${LIMITS.ess} effective draws are marked.`,
    style: STYLE,
    script: SCRIPT,
  });
}

function isDoubtful({ rHat, nestedRHat, essBulk, essTail }: SummaryRow): boolean {
  return (nestedRHat ?? rHat) > LIMITS.rHat || essBulk < LIMITS.ess || essTail < LIMITS.ess;
}

/** The doubtful first, then the others, as many as fit, in the order of the draws. Constants have nothing to show. */
function panelNames(table: Summary): string[] {
  const moving = table.rows.filter((row) => row.sd !== 0);
  const chosen = [...moving.filter(isDoubtful), ...moving.filter((row) => !isDoubtful(row))].slice(0, MOST_PANELS);
  return moving.filter((row) => chosen.includes(row)).map(({ name }) => name);
}

function verdictSection(found: Check): string {
  const findings = found.problems.map(({ severity, message, remedy }) => {
    return `<div class="finding ${severity}"><p>${escapeText(message)}</p><p class="remedy">${escapeText(remedy)}</p></div>`;
  });
  const praise = `<div class="finding ok"><p>${escapeText(found.toString())}</p></div>`;
  return `<section id="verdict">${found.ok ? praise : findings.join("\n")}</section>`;
}

function summarySection(table: Summary, panels: ReadonlyMap<string, string>): string {
  const { headings, rows } = table.cells();
  const keys = ["mean", "sd", "mcseMean", "q5", "median", "q95", "essBulk", "essTail", "rHat", "nestedRHat"] as const;
  const limits: Partial<Record<(typeof keys)[number], (value: number) => boolean>> = {
    essBulk: (value) => value < LIMITS.ess,
    essTail: (value) => value < LIMITS.ess,
    // With superchains, the nested R-hat decides.
    [headings.includes("nested_rhat") ? "nestedRHat" : "rHat"]: (value: number) => value > LIMITS.rHat,
  };
  const body = rows.slice(0, MOST_ROWS).map((cells, i) => {
    const row = table.rows[i];
    const name = escapeText(row.name);
    const panel = panels.get(row.name);
    const data = cells.map((text, column) => {
      const value = row[keys[column]] ?? Number.NaN;
      const mark = limits[keys[column]]?.(value) ? ' class="bad"' : "";
      return `<td${mark} data-value="${Number.isNaN(value) ? "" : value}">${text}</td>`;
    });
    return `<tr data-position="${i}"><td>${panel ? `<a href="#${panel}">${name}</a>` : name}</td>${data.join("")}</tr>`;
  });
  const rest = rows.length > MOST_ROWS ? `<p class="note">${rows.length - MOST_ROWS} more rows are left out.</p>` : "";
  return `<section><h2>Summary</h2><div class="scroll"><table>
<thead><tr><th>variable</th>${headings.map((heading) => `<th>${heading}</th>`).join("")}</tr></thead>
<tbody>
${body.join("\n")}
</tbody></table></div>${rest}</section>`;
}

function variablesSection(draws: Draws, table: Summary, names: readonly string[]): string {
  const rows = new Map(table.rows.map((row) => [row.name, row]));
  const divergent = draws.stat("divergent")?.values;
  const chips = names.map((name, i) => {
    const row = rows.get(name);
    return `<button type="button" class="name${row && isDoubtful(row) ? " bad" : ""}" data-panel="v${i}">${escapeText(name)}</button>`;
  });
  const panels = names.map((name, i) =>
    variablePanel(`v${i}`, rows.get(name) as SummaryRow, draws.scalar(name), divergent),
  );
  const unseen = table.rows.length - names.length;
  const note =
    unseen > 0
      ? `<p class="note">${unseen} more are not drawn (constants, or beyond what fits); name them in the report's option ` +
        `<span class="name">variables</span>.</p>`
      : "";
  return `<section><h2>Variables</h2>
<div class="picker"><input id="filter" type="search" placeholder="filter" aria-label="filter variables">
<button id="none" type="button">none</button><div class="chips">${chips.join("")}</div></div>
${legend(draws)}${note}
${panels.join("\n")}
</section>`;
}

/** The colours of chains, or of groups of them. */
function legend(draws: Draws): string {
  const groups = chainGroups({ values: new Float64Array(0), chains: draws.chains, draws: 0 });
  const items = groups.map(({ label }, k) => `<li><span class="swatch c${k}"></span>${label}</li>`);
  return `<ul class="legend">${items.join("")}</ul>`;
}

function variablePanel(id: string, row: SummaryRow, x: Chains, divergent?: Float64Array): string {
  const name = escapeText(row.name);
  const facts = `mean ${formatValue(row.mean)}, sd ${formatValue(row.sd)}`;
  const lines =
    x.chains > MOST_GROUPS
      ? "bands hold half and nine tenths of the chains; three chains are drawn"
      : "a line per chain";
  return `<article class="panel" id="${id}"><h3><span class="name">${name}</span><span>${facts}</span></h3>
<div class="figures">
${figure(tracePlot(row.name, x, divergent), `Trace: ${lines}${divergent?.includes(1) ? ", divergences at the foot" : ""}`, "wide")}
${figure(rankPlot(row.name, x), "Rank histograms: flat where the chains agree")}
${figure(densityPlot(row.name, x), "Density: the middle 90% is shaded")}
${figure(autocorrelationPlot(row.name, x), "Autocorrelation: the faster to 0 the better")}
</div></article>`;
}

function figure(picture: string, caption: string, className = ""): string {
  return `<figure${className && ` class="${className}"`}>${picture}<figcaption>${caption}</figcaption></figure>`;
}

function pairsSection(draws: Draws, table: Summary, found: Check, filter?: NameFilter): string {
  const names = (filter === undefined ? pairNames(draws, table, found) : draws.match(filter)).slice(0, MOST_PAIRS);
  if (filter !== undefined && names.length < 2) {
    throw new ArgumentError(
      `report: pairs lets ${names.length === 0 ? "nothing" : `only ${names[0]}`} through; a pair plot takes two scalars or more.`,
    );
  }
  if (names.length < 2 || draws.length === 0) return "";
  const marked = draws.stat("divergent")?.values.includes(1) ? " Divergent draws are marked." : "";
  return `<section><h2>Pairs</h2><p class="note">Some of the draws of each pair.${marked} A funnel or a ridge slows the sampler;
divergences that gather in one place show where it fails.</p><div class="plain"><div style="max-width: ${pairsWidth(names.length)}px">
${pairsPlot(draws, names)}</div></div></section>`;
}

/** Pairs of variables to plot: first those with divergences, then those that mix worst. */
function pairNames(draws: Draws, table: Summary, found: Check): string[] {
  const places = found.problems
    .filter(({ kind }) => kind === "divergences")
    .flatMap(({ variables }) => variables.map(({ name }) => name));
  const slowest = table.rows
    .filter(({ essBulk }) => !Number.isNaN(essBulk))
    .sort((a, b) => a.essBulk - b.essBulk)
    .map(({ name }) => name);
  const chosen = [...new Set([...places, ...slowest])].slice(0, MOST_PAIRS);
  return draws.names.filter((name) => chosen.includes(name));
}

function samplerSection(draws: Draws): string {
  const energy = draws.stat("energy");
  const depths = draws.stat("treeDepth")?.values;
  if (draws.length < 4 || (!energy && !depths)) return "";
  const fractions = energy ? [...eBfmi(energy)].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b) : [];
  const lowest = fractions.length > 0 ? `; lowest E-BFMI ${fractions[0].toFixed(2)}` : "";
  const figures = [
    energy && figure(energyPlot(energy), `Energies visited (shaded) and steps between them (line)${lowest}`),
    depths && figure(treeDepthPlot(depths), "Tree depths: the share of transitions"),
  ];
  return `<section><h2>Sampler</h2><div class="plain"><div class="figures">${figures.filter(Boolean).join("\n")}</div></div></section>`;
}
