/** `pumice tune`: measures how products of matrices run best on a device, keeps what it finds, and shows what it gained. */
import { readCache, removeFiles } from "./cache.js";
import { type Command, ExpectedError } from "./command.js";
import { loadVulkan } from "./surface.js";
import { columns, plural, type Terminal } from "./terminal.js";

type Pumice = typeof import("../index.js");
type TunedProduct = import("../index.js").TunedProduct;

/** Products that programs have often: squares, batches, long and slim ones, the layers of networks. */
const COMMON: readonly string[] = [
  "512x512x512:f32",
  "1024x1024x1024:f32",
  "2048x2048x2048:f32",
  "4096x4096x4096:f32",
  "4096x4096x4096:f32:nt",
  "4096x4096x4096:f32:tn",
  "64x512x512x512:f32",
  "128x262144x128:f32",
  "100003x37x53:f32",
  "128x784x256:f32",
  "4096x768x3072:f32",
  "768x4096x3072:f32:tn",
  "2048x2048x2048:f64",
  "4096x4096x4096:f16",
  "64x512x512x512:f16",
];
/** The same for devices that compute on the CPU. */
const COMMON_ON_CPU: readonly string[] = [
  "128x128x128:f32",
  "256x256x256:f32",
  "512x512x512:f32",
  "1024x1024x1024:f32",
  "128x784x256:f32",
  "16x128x128x128:f32",
  "64x16384x64:f32",
  "512x512x512:f64",
];

/** A gain below this is no more than repeats differ. */
const SAME = 1.02;

export const tune: Command = {
  name: "tune",
  summary: "measures how matrix products run best on a device, and keeps what it finds",
  usage: "[--clear] [--shapes <product>…]",
  words: "any",
  switches: {
    clear: "removes what was measured, for all devices",
    shapes: "measures the products named after it instead of a list of common ones",
  },
  help: `
A product is named by its rows, summands and columns, and its dtype: 4096x4096x4096:f32. A batch comes before them, and nt or
tn after for a transposed operand: 64x512x512x512:bf16:nt. f32-high and f32-fast are f32 at that precision.

Without --shapes it measures a list of common products; on a GPU that takes about two minutes. PUMICE_DEVICE chooses the
device. Products of a similar shape use what is found, in every program from then on, until Pumice or the driver changes.
PUMICE_TUNE=1 measures the products of a program while it is compiled, in the same way.`,

  async run(given, terminal) {
    if (given.has("clear")) return clear(terminal);
    const pumice = await import("../index.js");
    const device = pumice.defaultDevice();
    const products = given.words.length > 0 ? given.words : await commonFor(device);
    terminal.print(`Measuring ${plural(products.length, "product")} on ${device}.`);
    printTable(await measured(pumice, products, device), terminal);
    return 0;
  },
};

/** A list of products that suits the device. */
async function commonFor(device: string): Promise<readonly string[]> {
  const [kind, index = "0"] = device.split(":");
  if (kind === "cpu") return COMMON_ON_CPU;
  const { listDevices } = await loadVulkan();
  const type = listDevices().find((each) => each.index === Number(index))?.properties.type;
  return type === "cpu" ? COMMON_ON_CPU : COMMON;
}

/** Measures the products one after the other, and says on a terminal which one is at work. */
async function measured({ tune }: Pumice, products: readonly string[], device: string): Promise<TunedProduct[]> {
  const { isTTY = false } = process.stderr;
  const show = (text: string) => isTTY && process.stderr.write(`\r\x1b[K${text}`);
  try {
    const onProgress = (product: string, at: number, count: number) => show(`${at + 1} of ${count}: ${product}`);
    return await tune(products, { device, onProgress });
  } finally {
    show("");
  }
}

function printTable(found: readonly TunedProduct[], terminal: Terminal): void {
  const rows = found.map(({ product, tiling, before, milliseconds, millisecondsBefore, tried }) => {
    if (tried === 0) return [product, "", "", "", "nothing to choose: it is too small for tiles, or has one"];
    const gain = millisecondsBefore / milliseconds;
    const times = [millisecondsBefore, milliseconds].map((time) => time.toPrecision(3));
    return [
      product,
      ...times,
      gain < SAME ? "same" : `${gain.toFixed(2)}×`,
      tiling === before ? tiling : `${tiling}, before ${before}`,
    ];
  });
  const head = ["product", "ms before", "ms now", "gain", "tiles"];
  for (const [at, line] of columns([head, ...rows]).entries()) {
    terminal.print(at === 0 ? terminal.paint("bold", line) : line);
  }
}

async function clear(terminal: Terminal): Promise<number> {
  const { cacheFolder, cacheKinds } = await loadVulkan();
  const folder = cacheFolder();
  if (folder === null) {
    terminal.print("Nothing is kept on disk.");
    return 0;
  }
  const kinds = cacheKinds.filter((kind) => kind.folder === "tuning");
  const { removed, failures } = removeFiles(readCache(folder, kinds));
  terminal.print(`Removed ${plural(removed.length, "file")} with measurements.`);
  if (failures.length > 0) throw new ExpectedError(`Not removed: ${failures.join("; ")}.`);
  return 0;
}
