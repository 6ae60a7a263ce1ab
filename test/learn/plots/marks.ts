/** The marks of a picture, read from its SVG. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Picture } from "../../../src/plots/picture.js";
import { readXml } from "../../bayes/report/xml.js";

/** A tree of SciPy. */
export interface TreeCase {
  readonly linkage: number[][];
  readonly most: number;
  readonly leaves: readonly number[];
  readonly names: readonly string[];
  readonly icoord: readonly (readonly number[])[];
  readonly dcoord: readonly (readonly number[])[];
  readonly colours: readonly number[];
}

type Matrix = number[][];

/** Curves of scikit-learn. */
interface CurveCase {
  readonly x: Matrix;
  readonly y: number[];
  readonly shares: readonly number[];
  readonly sizes: readonly number[];
  readonly train: Matrix;
  readonly test: Matrix;
  readonly numbers: readonly number[];
  readonly trainErrors: Matrix;
  readonly testErrors: Matrix;
  readonly alphas: number[];
  readonly trainByAlpha: Matrix;
  readonly testByAlpha: Matrix;
}

export const plotsCases = (): { readonly trees: readonly TreeCase[]; readonly curves: CurveCase } =>
  JSON.parse(readFileSync(resolve("test/learn/plots/plots-cases.json"), "utf8"));

/** The attributes of the elements of a class: those with all its names. Throws where the picture is not well-formed. */
export function marks({ svg }: Picture, element: string, className = ""): ReadonlyMap<string, string>[] {
  const wanted = className.split(" ").filter(Boolean);
  return readXml(svg)
    .filter(({ name }) => name === element)
    .map(({ attributes }) => attributes)
    .filter((attributes) => wanted.every((each) => (attributes.get("class") ?? "").split(" ").includes(each)));
}

/** The corners of a path: places where it goes, whatever commands it is written in. */
export function corners(data: string): [number, number][] {
  const found: [number, number][] = [];
  let [x, y] = [0, 0];
  for (const [, command, rest] of data.matchAll(/([MLHVhv])([^MLHVhvZm]*)/g)) {
    const numbers = [...rest!.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
    if (command === "H") x = numbers[0]!;
    else if (command === "V") y = numbers[0]!;
    else if (command === "h") x += numbers[0]!;
    else if (command === "v") y += numbers[0]!;
    else [x, y] = numbers as [number, number];
    if (command !== "h" || numbers[0] !== 0) found.push([x, y]);
  }
  return found;
}

/** The corners of the only path of a class. */
export function onlyPath(picture: Picture, className: string): [number, number][] {
  const found = marks(picture, "path", className);
  if (found.length !== 1) throw new Error(`${found.length} paths of class ${className}`);
  return corners(found[0]!.get("d")!);
}

/** The texts of a class, in their order, as readers see them. */
export function texts({ svg }: Picture, className: string): string[] {
  const pattern = /<text class="([^"]*)"[^>]*>(?:<title>[^<]*<\/title>)?([^<]*)<\/text>/g;
  const wanted = className.split(" ");
  return [...svg.matchAll(pattern)]
    .filter(([, names]) => wanted.every((each) => names!.split(" ").includes(each)))
    .map(([, , text]) => text!);
}
