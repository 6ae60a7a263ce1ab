/**
 * ONNX's operator tests, by the public functions of the library (operators.ts): each is a graph of a node or a few, its inputs
 * and what must come out. `npm run test:onnx` calls it with the folder of the tests, and prints how many passed, failed and
 * cannot be written.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Tensor } from "../../src/index.js";
import { NotOurs, type OnnxValue, readModel, readTensor } from "./messages.js";
import { operators } from "./operators.js";

/** What ONNX's own runner allows. */
const [RELATIVE, ABSOLUTE] = [1e-3, 1e-7];

const numbersOf = (x: Tensor): number[] => Array.from(x.dataSync() as ArrayLike<number | bigint>, Number);

/** Why two tensors differ; null where they do not. */
function difference(got: Tensor, want: Tensor): string | null {
  if (got.dtype !== want.dtype) return `${got.dtype}, not ${want.dtype}`;
  if (got.shape.join() !== want.shape.join()) return `[${got.shape}], not [${want.shape}]`;
  const [found, wanted] = [numbersOf(got), numbersOf(want)];
  const at = wanted.findIndex((value, i) => {
    const isSame = Object.is(found[i], value) || found[i] === value;
    return !isSame && !(Math.abs(found[i]! - value) <= ABSOLUTE + RELATIVE * Math.abs(value));
  });
  return at < 0 ? null : `element ${at} is ${found[at]}, not ${wanted[at]}`;
}

/** Tests whose files say something else than the standard does. */
const ODD: Readonly<Record<string, string>> = {
  test_cast_FLOAT_to_BFLOAT16: "files that cut bf16 off, where the standard rounds",
  test_castlike_FLOAT_to_BFLOAT16: "files that cut bf16 off, where the standard rounds",
  test_castlike_FLOAT_to_BFLOAT16_expanded: "files that cut bf16 off, where the standard rounds",
};

function run(folder: string): void {
  const odd = ODD[basename(folder)];
  if (odd) throw new NotOurs(odd);
  const graph = readModel(new Uint8Array(readFileSync(join(folder, "model.onnx"))));
  const lacking = graph.nodes.map(({ op }) => op).find((op) => !operators[op]);
  if (lacking) throw new NotOurs(`the operator ${lacking}`);
  const data = join(folder, "test_data_set_0");
  const tensorsOf = (prefix: string, values: readonly OnnxValue[]) => {
    const found: Tensor[] = [];
    for (let i = 0; existsSync(join(data, `${prefix}_${i}.pb`)); i++) {
      const value = readTensor(new Uint8Array(readFileSync(join(data, `${prefix}_${i}.pb`))));
      // NumPy, which wrote the files, has no bf16.
      const isBrainFloat = value.dtype === "u16" && values[i]!.dtype === "bf16";
      found.push(isBrainFloat ? value.bitcast("bf16") : value);
    }
    return found;
  };
  const known = new Map<string, Tensor>(graph.constants);
  const free = graph.inputs.filter(({ name }) => !graph.constants.has(name));
  tensorsOf("input", free).forEach((value, i) => {
    known.set(free[i]!.name, value);
  });
  for (const { op, inputs, outputs, attributes } of graph.nodes) {
    const given = inputs.map((name) => known.get(name));
    const made = operators[op]!(given, attributes, graph.opset, outputs.length);
    const results = Array.isArray(made) ? (made as readonly Tensor[]) : [made as Tensor];
    outputs.forEach((name, i) => {
      if (name === "") return;
      const result = results[i];
      if (!result) throw new NotOurs(`result ${i} of ${op}`);
      known.set(name, result);
    });
  }
  tensorsOf("output", graph.outputs).forEach((want, i) => {
    const problem = difference(known.get(graph.outputs[i]!.name)!, want);
    if (problem) throw new Error(`result ${i}: ${problem}`);
  });
}

/** Runs every test of a folder; the exit status. */
export function runAll(root: string): number {
  const reasons = new Map<string, number>();
  let [passed, failed] = [0, 0];
  for (const name of readdirSync(root).sort()) {
    if (!existsSync(join(root, name, "model.onnx"))) continue;
    try {
      run(join(root, name));
      passed++;
    } catch (error) {
      const { message } = error as Error;
      if (error instanceof NotOurs) reasons.set(message, (reasons.get(message) ?? 0) + 1);
      else {
        failed++;
        console.log(`not ok ${name}: ${message.split("\n")[0]}`);
      }
    }
  }
  const left = [...reasons].sort((a, b) => b[1] - a[1]);
  for (const [reason, count] of left) console.log(`${String(count).padStart(4)} not written: ${reason}`);
  const unwritten = left.reduce((sum, [, count]) => sum + count, 0);
  console.log(`${passed} passed, ${failed} failed, ${unwritten} skipped`);
  return failed > 0 ? 1 : 0;
}
