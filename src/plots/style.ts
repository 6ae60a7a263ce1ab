/**
 * Style sheets, light and dark, for the screen and for paper: of a page, of the marks in its pictures, and of a picture that stands in a
 * file by itself.
 */
import { type Colours, DARK, GROUP_COLOURS, LIGHT, properties } from "./colours.js";

const GROUPS = Array.from({ length: GROUP_COLOURS }, (_, k): Rule => [`.g${k}`, `color: var(--g${k})`]);

type Rule = readonly [selector: string, declarations: string];

/** Rules of marks in pictures. */
const MARKS: readonly Rule[] = [
  ["text", "font: 11px system-ui, sans-serif; fill: var(--soft)"],
  [".tick", "text-anchor: middle"],
  [".label", "text-anchor: middle"],
  [".tick.side", "text-anchor: end"],
  [".heading", "font-size: 14px; font-weight: 620; fill: var(--ink)"],
  [".name", "fill: var(--ink)"],
  [".value", "text-anchor: middle; fill: var(--ink)"],
  [".value.light", "fill: var(--card)"],
  [".small", "font-size: 9px"],
  [".paper", "fill: var(--card)"],
  [".grid", "stroke: var(--line)"],
  [".axis", "stroke: var(--soft); stroke-opacity: 0.6"],
  [".cell", "fill: none; stroke: var(--line)"],
  [".heat", "fill: var(--accent)"],
  [".line", "fill: none; stroke: var(--ink); stroke-width: 1.4; stroke-linejoin: round"],
  [".line.thin", "stroke-width: 0.9; stroke-opacity: 0.75"],
  [".line.strong", "stroke-width: 1.8"],
  [".line.faint", "stroke-width: 0.8; stroke-opacity: 0.35"],
  [".line.of", "stroke: currentColor"],
  [".line.d1", "stroke-dasharray: 7 3"],
  [".line.d2", "stroke-dasharray: 2 2.5"],
  [".line.d3", "stroke-dasharray: 8 3 2 3"],
  [".band", "fill: var(--accent); fill-opacity: 0.22"],
  [".band.light", "fill-opacity: 0.11"],
  [".band.of", "fill: currentColor; fill-opacity: 0.16"],
  [".bar", "fill-opacity: 0.8"],
  [".bar.of", "fill: currentColor"],
  [".whisker", "fill: none; stroke: var(--ink); stroke-width: 1.2"],
  [".expected", "fill: none; stroke: var(--ink); stroke-opacity: 0.45; stroke-dasharray: 3 3"],
  [".dots", "stroke: var(--accent); stroke-opacity: 0.38; stroke-width: 2.6; stroke-linecap: round"],
  [".dots.diverged", "stroke: var(--bad); stroke-opacity: 0.95; stroke-width: 3.6"],
  [".divergence", "stroke: var(--bad); stroke-width: 1.2"],
  [".points", "stroke: currentColor; stroke-opacity: 0.75; stroke-width: 5; stroke-linecap: round"],
  [".points.square", "stroke-width: 4.6; stroke-linecap: square"],
  [".points.plain", "stroke: var(--accent); stroke-opacity: 0.5; stroke-width: 4"],
  [".shape", "fill: currentColor; fill-opacity: 0.75"],
  [".rest", "color: var(--soft)"],
  [".node", "fill: var(--page); stroke: var(--soft)"],
  [".node.of", "fill: currentColor; fill-opacity: 0.16; stroke: currentColor"],
  ...GROUPS,
];

const rules = (within: string, list: readonly Rule[]): string =>
  list.map(([selector, declarations]) => `${within} ${selector} { ${declarations} }`).join("\n");

/** The colours of a page, and its texts and buttons. */
export const PAGE_STYLE = `
:root { color-scheme: light; ${properties(LIGHT)} }
:root[data-theme="dark"] { color-scheme: dark; ${properties(DARK)} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { color-scheme: dark; ${properties(DARK)} } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", Roboto, sans-serif }
header, main, footer { max-width: 1060px; margin: 0 auto; padding: 0 24px }
header { display: flex; align-items: baseline; gap: 18px; padding-top: 36px }
h1 { margin: 0; font-size: 28px; font-weight: 650; letter-spacing: -0.015em }
.facts { color: var(--soft); flex: 1; margin: 0 }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: 3px 10px }
button { cursor: pointer }
button:hover, button:focus-visible { border-color: var(--accent) }
.panel, .plain { margin-top: 14px; padding: 14px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 9px }
figure { margin: 0 }
svg { display: block; width: 100%; height: auto }
footer { padding: 40px 24px 32px; color: var(--soft); font-size: 13px }
@media print { #theme { display: none } }
`;

/** The marks in the pictures of a page. */
export const MARK_STYLE = rules("svg", MARKS);

/** The style inside a picture that stands by itself. Its colours are written out: not every viewer knows custom properties. */
export const PICTURE_STYLE = `${written(LIGHT)}
@media (prefers-color-scheme: dark) {
${written(DARK)}
}`;

function written(colours: Colours): string {
  return rules(".pumice-picture", MARKS).replace(/var\(--([\w-]+)\)/g, (_, name: string) => colours[name]);
}
