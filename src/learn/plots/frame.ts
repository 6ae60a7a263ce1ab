/** Options that all pictures have, and pictures with axes made of them. */
import { checkOptions, type OptionKinds } from "../../core/arguments.js";
import { type PlotOptions, plotBody } from "../../plots/axes.js";
import { Picture } from "../../plots/picture.js";

/** Options of every picture. */
export interface PictureOptions {
  /** The heading; none for "". */
  readonly title?: string;
}

const PICTURE: OptionKinds<PictureOptions> = { title: "text" };

/** Checks the options of a picture. */
export function checkPicture<O extends PictureOptions>(
  operation: string,
  options: O,
  known: OptionKinds<Omit<O, "title">>,
): void {
  checkOptions<PictureOptions>(operation, options, { ...PICTURE, ...known });
}

/** A picture with axes. `heading` is its own, which users change by the option `title`. */
export function framed(
  { title }: PictureOptions,
  parts: Omit<PlotOptions, "title"> & { readonly heading: string },
): Picture {
  const heading = title ?? parts.heading;
  const { width, height } = parts;
  const body = plotBody({ ...parts, title: heading, heading });
  return new Picture({ title: heading || parts.heading, width, height, body });
}
