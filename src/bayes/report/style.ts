/** The report's own rules: colours of chains, findings, the table, the choice of variables. Pages and marks in pictures have theirs. */
import { MARK_STYLE } from "../../plots/style.js";

const LIGHT = `--c0: #3b6fb6; --c1: #d1603d; --c2: #3f9468; --c3: #8a5fb0; --c4: #b98a1d; --c5: #3b9db3; --c6: #b6507f; --c7: #71757c;`;
const DARK = `--c0: #78a9ea; --c1: #ef8f6d; --c2: #74c79a; --c3: #bd97de; --c4: #dfb550; --c5: #6fcbe0; --c6: #e58bb4; --c7: #a9aeb6;`;

const CHAINS = Array.from({ length: 8 }, (_, k) => {
  return `svg .line.c${k} { stroke: var(--c${k}) } svg .bar.c${k} { fill: var(--c${k}) } .swatch.c${k} { background: var(--c${k}) }`;
}).join("\n");

export const STYLE = `
:root { ${LIGHT} }
:root[data-theme="dark"] { ${DARK} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${DARK} } }
h2 { margin: 44px 0 12px; font-size: 19px; font-weight: 620 }
h3 { margin: 0; font-size: 15px; font-weight: 620 }
.note { color: var(--soft); margin: 6px 0 12px; max-width: 74ch }
.finding { margin: 12px 0 0; padding: 12px 16px; border-radius: 9px; border-left: 4px solid; max-width: 90ch }
.finding p { margin: 2px 0 0 }
.finding.ok { background: var(--good-back); border-color: var(--good) }
.finding.warning { background: var(--warn-back); border-color: var(--warn) }
.finding.error { background: var(--bad-back); border-color: var(--bad) }
.finding .remedy { color: var(--soft) }
#verdict { margin-top: 22px }
.scroll { overflow: auto; max-height: 460px; border: 1px solid var(--line); border-radius: 9px; background: var(--card) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 14px }
th, td { padding: 5px 12px; text-align: right; white-space: nowrap }
th { position: sticky; top: 0; background: var(--card); box-shadow: inset 0 -1px var(--line); font-weight: 550; color: var(--soft); cursor: pointer }
th:first-child, td:first-child { text-align: left }
tbody tr:nth-child(even) { background: color-mix(in srgb, var(--line) 28%, transparent) }
td:first-child, .name { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 13px }
td a { color: var(--accent); text-decoration: none }
td a:hover { text-decoration: underline }
td.bad { color: var(--bad); font-weight: 620 }
.picker { display: flex; flex-wrap: wrap; gap: 6px; align-items: center }
.picker .chips { display: flex; flex-wrap: wrap; gap: 5px; max-height: 132px; overflow: auto }
.picker button.on { background: var(--accent); border-color: var(--accent); color: var(--page) }
.picker button.bad::after { content: " •"; color: var(--bad) }
.picker button.on.bad::after { color: inherit }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; color: var(--soft); font-size: 13px; margin: 12px 0 0; padding: 0; list-style: none }
.swatch { display: inline-block; width: 12px; height: 3px; margin-right: 6px; vertical-align: middle; border-radius: 2px }
.panel h3 { display: flex; gap: 14px; align-items: baseline }
.panel h3 span:last-child { color: var(--soft); font-weight: 400; font-size: 13px; font-variant-numeric: tabular-nums }
.scripted .panel:not(.on) { display: none }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); gap: 8px 18px; margin-top: 6px }
figure.wide { grid-column: 1 / -1 }
figcaption { color: var(--soft); font-size: 12.5px }
${MARK_STYLE}
${CHAINS}
@media print { .picker { display: none } .scripted .panel:not(.on) { display: block } .scroll { max-height: none } }
`;
