/** The report's style sheet: light and dark, for the screen and for paper. */

const LIGHT = `
  --page: #fbfbf9; --card: #ffffff; --ink: #1f2328; --soft: #5d6570; --line: #e3e4df; --accent: #2f5f8f;
  --good: #2c7a4b; --good-back: #eaf5ee; --warn: #8a5a00; --warn-back: #fdf4e0; --bad: #b3372a; --bad-back: #fcecea;
  --c0: #3b6fb6; --c1: #d1603d; --c2: #3f9468; --c3: #8a5fb0; --c4: #b98a1d; --c5: #3b9db3; --c6: #b6507f; --c7: #71757c;`;
const DARK = `
  --page: #15171a; --card: #1d2024; --ink: #e4e6e8; --soft: #9aa2ac; --line: #31353b; --accent: #86b4e2;
  --good: #7fcf9f; --good-back: #1b2a22; --warn: #e2b565; --warn-back: #2c2517; --bad: #f08c80; --bad-back: #321d1b;
  --c0: #78a9ea; --c1: #ef8f6d; --c2: #74c79a; --c3: #bd97de; --c4: #dfb550; --c5: #6fcbe0; --c6: #e58bb4; --c7: #a9aeb6;`;

const CHAINS = Array.from({ length: 8 }, (_, k) => {
  return `.line.c${k} { stroke: var(--c${k}) } .bar.c${k} { fill: var(--c${k}) } .swatch.c${k} { background: var(--c${k}) }`;
}).join("\n");

export const STYLE = `
:root { color-scheme: light; ${LIGHT} }
:root[data-theme="dark"] { color-scheme: dark; ${DARK} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { color-scheme: dark; ${DARK} } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.55 system-ui, "Segoe UI", Roboto, sans-serif }
header, main, footer { max-width: 1060px; margin: 0 auto; padding: 0 24px }
header { display: flex; align-items: baseline; gap: 18px; padding-top: 36px }
h1 { margin: 0; font-size: 28px; font-weight: 650; letter-spacing: -0.015em }
h2 { margin: 44px 0 12px; font-size: 19px; font-weight: 620 }
h3 { margin: 0; font-size: 15px; font-weight: 620 }
.facts { color: var(--soft); flex: 1; margin: 0 }
.note { color: var(--soft); margin: 6px 0 12px; max-width: 74ch }
button, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: 3px 10px }
button { cursor: pointer }
button:hover, button:focus-visible { border-color: var(--accent) }
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
.panel, .plain { margin-top: 14px; padding: 14px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 9px }
.panel h3 { display: flex; gap: 14px; align-items: baseline }
.panel h3 span:last-child { color: var(--soft); font-weight: 400; font-size: 13px; font-variant-numeric: tabular-nums }
.scripted .panel:not(.on) { display: none }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); gap: 8px 18px; margin-top: 6px }
figure { margin: 0 }
figure.wide { grid-column: 1 / -1 }
figcaption { color: var(--soft); font-size: 12.5px }
svg { display: block; width: 100%; height: auto }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft) }
.tick, .label { text-anchor: middle }
.tick.side { text-anchor: end }
.grid { stroke: var(--line) }
.axis { stroke: var(--soft); stroke-opacity: 0.6 }
.cell { fill: none; stroke: var(--line) }
.line { fill: none; stroke: var(--ink); stroke-width: 1.4; stroke-linejoin: round }
.line.thin { stroke-width: 0.9; stroke-opacity: 0.75 }
.line.strong { stroke-width: 1.8 }
.band { fill: var(--accent); fill-opacity: 0.22 }
.band.light { fill-opacity: 0.11 }
.bar { fill-opacity: 0.8 }
.expected { stroke: var(--ink); stroke-opacity: 0.45; stroke-dasharray: 3 3 }
.dots { stroke: var(--accent); stroke-opacity: 0.38; stroke-width: 2.6; stroke-linecap: round }
.dots.diverged { stroke: var(--bad); stroke-opacity: 0.95; stroke-width: 3.6 }
.divergence { stroke: var(--bad); stroke-width: 1.2 }
${CHAINS}
footer { padding: 40px 24px 32px; color: var(--soft); font-size: 13px }
@media print { .picker, #theme { display: none } .scripted .panel:not(.on) { display: block } .scroll { max-height: none } }
`;
