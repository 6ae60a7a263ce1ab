/** Pictures as users hold them: SVG with its style, for a file of its own or beside others on one HTML page. */
import { checkOptions, checkString } from "../core/arguments.js";
import { ArgumentError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { writeNamed } from "../files/named-file.js";
import { htmlPage } from "./page.js";
import { MARK_STYLE, PICTURE_STYLE } from "./style.js";
import { svg } from "./svg.js";

/** The parts of a picture: a description for readers who cannot see it, its size in pixels, and the marks. */
interface PictureParts {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly body: string;
}

/** A picture: text of SVG, light or dark as its reader likes. */
export class Picture {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** The picture as a file would hold it, with its style. */
  readonly svg: string;
  readonly #body: string;

  constructor({ title, width, height, body }: PictureParts) {
    this.title = title;
    this.width = width;
    this.height = height;
    this.#body = body;
    const paper = `<rect class="paper" width="${width}" height="${height}"/>`;
    this.svg = svg({ title, width, height, style: PICTURE_STYLE }, paper + body);
  }

  /** The picture for a page, which has the style. */
  get figure(): string {
    const { title, width, height } = this;
    return `<figure class="plain" style="max-width: ${width + 34}px">${svg({ title, width, height }, this.#body)}</figure>`;
  }

  /** Writes the picture: a path that ends in ".svg" makes a picture, one in ".html" a page. */
  async save(path: string): Promise<void> {
    checkString("picture.save", "the path", path);
    if (/\.html?$/i.test(path)) return page([this], { title: this.title }).save(path);
    if (/\.svg$/i.test(path)) return writeNamed("picture.save: the picture", path, [this.svg]);
    throw new ArgumentError(
      `picture.save: ${shown(path)} ends neither in ".svg" nor in ".html", which say what to write.`,
    );
  }

  toString(): string {
    return this.svg;
  }
}

/** Options of `page`. */
export interface PageOptions {
  /** The heading: "Pictures" unless told. */
  readonly title?: string;
}

/** An HTML page of pictures. It needs no network, and no file besides itself. */
export interface Page {
  readonly html: string;
  /** Writes the page to a path that ends in ".html". */
  save(path: string): Promise<void>;
  toString(): string;
}

const STYLE = `.pictures { display: flex; flex-wrap: wrap; gap: 14px; align-items: flex-start; margin-top: 22px }
.pictures figure { margin: 0; width: 100% }
header, main, footer { max-width: 1360px }
${MARK_STYLE}
`;

/** Puts pictures on one page, side by side where there is room. */
export function page(pictures: readonly Picture[], options: PageOptions = {}): Page {
  checkOptions("plots.page", options, { title: "text" });
  if (!Array.isArray(pictures) || !pictures.every((each) => each instanceof Picture)) {
    throw new ArgumentError(`plots.page: takes a list of pictures, as in page([rocCurve(…)]), not ${shown(pictures)}.`);
  }
  const html = htmlPage({
    title: options.title ?? "Pictures",
    facts: `${pictures.length} picture${pictures.length === 1 ? "" : "s"}`,
    main: `<div class="pictures">${pictures.map(({ figure }) => figure).join("\n")}</div>`,
    footer: "Made by Pumice.",
    style: STYLE,
  });
  return {
    html,
    toString: () => html,
    async save(path) {
      checkString("page.save", "the path", path);
      if (!/\.html?$/i.test(path)) {
        throw new ArgumentError(`page.save: ${shown(path)} does not end in ".html"; a page is HTML.`);
      }
      await writeNamed("page.save: the page", path, [html]);
    },
  };
}
