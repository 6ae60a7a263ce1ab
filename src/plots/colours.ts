/**
 * The colours of pictures and pages, light and dark. Colours of groups are those of Okabe and Ito (2008), which people who see fewer colours
 * can tell apart, with a lighter row for dark pages.
 */

/** Colours by name. */
export type Colours = Readonly<Record<string, string>>;

/** Groups that have a colour of their own; more begin again. */
export const GROUP_COLOURS = 8;

// biome-ignore format: a table
export const LIGHT: Colours = {
  page: "#fbfbf9", card: "#ffffff", ink: "#1f2328", soft: "#5d6570", line: "#e3e4df", accent: "#2f5f8f",
  good: "#2c7a4b", "good-back": "#eaf5ee", warn: "#8a5a00", "warn-back": "#fdf4e0", bad: "#b3372a", "bad-back": "#fcecea",
  g0: "#0072b2", g1: "#d55e00", g2: "#009e73", g3: "#cc79a7", g4: "#e69f00", g5: "#56b4e9", g6: "#5b5f66", g7: "#8c510a",
};
// biome-ignore format: a table
export const DARK: Colours = {
  page: "#15171a", card: "#1d2024", ink: "#e4e6e8", soft: "#9aa2ac", line: "#31353b", accent: "#86b4e2",
  good: "#7fcf9f", "good-back": "#1b2a22", warn: "#e2b565", "warn-back": "#2c2517", bad: "#f08c80", "bad-back": "#321d1b",
  g0: "#3f9be0", g1: "#f0803c", g2: "#1fbf92", g3: "#eaa6cb", g4: "#f5c04a", g5: "#9bd8fa", g6: "#949aa3", g7: "#b5763a",
};

/** Colours as custom properties of a style sheet. */
export const properties = (colours: Colours): string =>
  Object.entries(colours)
    .map(([name, colour]) => `--${name}: ${colour};`)
    .join(" ");
