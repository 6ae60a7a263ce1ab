/**
 * Makes the calls of the program on the CPU, one after another, and prints the names of those that were made. Tensors among
 * the results are computed. The test reads the last line.
 */
import { setDefaultDevice, Tensor } from "pumice";
import { bayesCalls, longCalls } from "./bayes.js";
import { removeFolder } from "./folder.js";
import { functions } from "./functions.js";
import { learnCalls } from "./learn.js";
import { methods } from "./methods.js";
import { nnCalls } from "./nn.js";
import { vulkanCalls } from "./vulkan.js";

/** Of `pumice/vulkan` only what needs no device. */
const withoutDevice = Object.keys(vulkanCalls).filter((name) => /^spirv\.|Ops$|^cache|^loaderRemedy/.test(name));

const calls = [
  ...Object.entries(methods),
  ...Object.entries(functions),
  ...Object.entries(bayesCalls).filter(([name]) => !longCalls.includes(name)),
  ...Object.entries(learnCalls),
  ...Object.entries(nnCalls),
  ...Object.entries(vulkanCalls).filter(([name]) => withoutDevice.includes(name)),
];

setDefaultDevice("cpu");
for (const [name, call] of calls) {
  try {
    const result = await call();
    for (const value of Array.isArray(result) ? result : [result]) if (value instanceof Tensor) await value.data();
  } catch (error) {
    throw new Error(`the call of ${name}`, { cause: error });
  }
}
removeFolder();
console.log(`made ${calls.length} calls`);
