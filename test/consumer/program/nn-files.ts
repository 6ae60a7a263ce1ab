/** A consumer's program: files of `pumice/nn`. */
import { tensor } from "pumice";
import * as nn from "pumice/nn";
import { path } from "./folder.js";
import type { Calls } from "./methods.js";

const tree = (): nn.TensorTree => ({ a: [tensor([1, 2], { device: "cpu" })] });

export const fileCalls: Calls = {
  writeTree: () => nn.writeTree(path("tree.safetensors"), tree(), { step: 1 }),
  readTree: async () => {
    await nn.writeTree(path("read-tree.safetensors"), tree());
    const { metadata }: { metadata: nn.Json | undefined } = await nn.readTree(path("read-tree.safetensors"), {
      device: "cpu",
    });
    return metadata;
  },
};
