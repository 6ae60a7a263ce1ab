/** A page that needs nothing else: a policy in its head forbids it to fetch anything. */
import { PAGE_STYLE } from "./style.js";
import { escapeText } from "./svg.js";
import { THEME_SCRIPT } from "./theme.js";

interface PageParts {
  readonly title: string;
  /** A line beside the title. */
  readonly facts: string;
  /** HTML of the page's middle and foot. */
  readonly main: string;
  readonly footer: string;
  /** Rules and a script of this kind of page alone. */
  readonly style: string;
  readonly script?: string;
}

/** The page as HTML. Texts other than the title come escaped. */
export function htmlPage({ title, facts, main, footer, style, script = "" }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>${escapeText(title)}</title>
<style>${PAGE_STYLE}${style}</style>
</head>
<body>
<header><h1>${escapeText(title)}</h1><p class="facts">${facts}</p><button id="theme" type="button">light / dark</button></header>
<main>
${main}
</main>
<footer>${footer}</footer>
<script>
const root = document.documentElement;
${script}
${THEME_SCRIPT}</script>
</body>
</html>
`;
}
