/** A frame with axes around what a picture shows: ticks, names of axes, a heading, a legend. */
import { type LegendEntry, legendElement, legendWidth } from "./legend.js";
import { type Domain, type Scale, scaleTo, ticksIn, tickText } from "./scales.js";
import { escapeText, round, svg } from "./svg.js";
import { textElement, textWidth } from "./text.js";

/** A picture of which three stand side by side. */
export const SMALL = { width: 320, height: 190 } as const;

/** A tick with a text of its own. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

export interface PlotOptions {
  /** A description of the picture, for readers who cannot see it. */
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly x: Domain;
  readonly y: Domain;
  readonly xLabel?: string;
  readonly yLabel?: string;
  /** The ticks of the x axis: round numbers unless told. */
  readonly xTicks?: readonly Tick[];
  /** Whether the y axis has numbers, as densities need none; or its ticks. */
  readonly yTicks?: boolean | readonly Tick[];
  /** A line above the picture. */
  readonly heading?: string;
  /** Names of what is drawn, beside the picture. */
  readonly legend?: readonly LegendEntry[];
  /** Draws inside the axes. */
  readonly draw: (x: Scale, y: Scale, area: PlotArea) => string;
}

interface PlotArea {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Room for names of ticks beside the picture. */
const MOST_TICK_WIDTH = 150;

/** A picture with axes. */
export function plot(options: PlotOptions): string {
  const { title, width, height } = options;
  return svg({ title, width, height }, plotBody(options));
}

/** What is inside a picture with axes. */
export function plotBody(options: PlotOptions): string {
  const { width, height, xLabel = "", yTicks = true, legend = [] } = options;
  const area = areaOf(options);
  const x = scaleTo(options.x, [area.left, area.right]);
  const y = scaleTo(options.y, [area.bottom, area.top]);
  const below = (options.xTicks ?? numbered(ticksIn(options.x, width / 80))).map(({ at, text }) => {
    return `<text class="tick" x="${round(x(at))}" y="${area.bottom + 14}">${escapeText(text)}</text>`;
  });
  const label =
    xLabel && `<text class="label" x="${(area.left + area.right) / 2}" y="${height - 4}">${escapeText(xLabel)}</text>`;
  return (
    `${sideTicks(sideTicksOf(yTicks, options), y, area)}${options.draw(x, y, area)}` +
    `<path class="axis" d="M${area.left} ${area.bottom}H${area.right}"/>${below.join("")}${label}` +
    `${around(options, area)}${legendElement(legend, area.right + 16, area)}`
  );
}

const numbered = (values: readonly number[]): Tick[] => values.map((at) => ({ at, text: tickText(at) }));

const sideTicksOf = (yTicks: boolean | readonly Tick[], { y, height }: PlotOptions): readonly Tick[] =>
  typeof yTicks === "object" ? yTicks : yTicks ? numbered(ticksIn(y, height / 50)) : [];

/** The place inside the axes: what is left beside ticks, names, heading and legend. */
function areaOf({ width, height, xLabel, yLabel, yTicks = true, heading, legend = [] }: PlotOptions): PlotArea {
  const names = typeof yTicks === "object" ? yTicks.map(({ text }) => textWidth(text) + 14) : [];
  const beside = yTicks ? Math.min(Math.max(46, ...names), MOST_TICK_WIDTH) : 10;
  return {
    left: Math.round(beside + (yLabel ? 16 : 0)),
    right: Math.round(width - 10 - legendWidth(legend)),
    top: heading ? 32 : 8,
    bottom: height - (xLabel ? 34 : 20),
  };
}

function sideTicks(ticks: readonly Tick[], y: Scale, area: PlotArea): string {
  return ticks
    .map(({ at, text }) => {
      const place = round(y(at));
      return (
        `<path class="grid" d="M${area.left} ${place}H${area.right}"/>` +
        textElement(text, { className: "tick side", x: area.left - 6, y: place + 4, width: MOST_TICK_WIDTH - 14 })
      );
    })
    .join("");
}

/** The heading, and the name of the y axis. */
function around({ heading = "", yLabel = "", width, height }: PlotOptions, area: PlotArea): string {
  const above = heading && textElement(heading, { className: "heading", x: 12, y: 20, width: (width - 24) * 0.82 });
  const room = height - area.top - 10;
  return (
    above +
    (yLabel &&
      textElement(yLabel, { className: "label", x: 12, y: (area.top + area.bottom) / 2, width: room, turned: -90 }))
  );
}
