/**
 * The default device and the reason for it: the best GPU, or the device named by `PUMICE_DEVICE`. Pure; `info` and `doctor`
 * explain it, the tour uses it. Devices come in the order of `listDevices()`: best first.
 */
import type { PhysicalDevice } from "../vulkan/index.js";
import { plural } from "./terminal.js";

export interface Candidate {
  readonly index: number;
  readonly name: string;
  readonly type: PhysicalDevice["type"];
  /** Why it cannot be used, or null. */
  readonly refusal: string | null;
}

export interface Choice {
  /** As in `PUMICE_DEVICE`: "vulkan:0", "cpu"; null when there is nothing to use. */
  readonly device: string | null;
  /** Position in `listDevices()`, for a Vulkan device. */
  readonly index: number | null;
  /** A clause for "vulkan:0, because …", or a sentence where there is no device. */
  readonly why: string;
}

/** The kinds of devices, in words. */
export const kinds: Readonly<Record<Candidate["type"], string>> = {
  discrete: "discrete GPU",
  virtual: "virtual GPU",
  integrated: "integrated GPU",
  cpu: "software (runs on the CPU)",
  other: "device of another kind",
};

const isUsable = ({ refusal }: Candidate) => refusal === null;
const isGpu = ({ type }: Candidate) => type !== "cpu";
const take = ({ index }: Candidate, why: string): Choice => ({ device: `vulkan:${index}`, index, why });
const onCpu = (why: string): Choice => ({ device: "cpu", index: null, why });
const nothing = (why: string): Choice => ({ device: null, index: null, why });

/** @param asked the value of `PUMICE_DEVICE`, if it is set */
export function chooseDevice(candidates: readonly Candidate[], asked: string | undefined): Choice {
  return asked ? chooseAsked(candidates, asked) : chooseDefault(candidates);
}

function chooseAsked(candidates: readonly Candidate[], asked: string): Choice {
  const because = `PUMICE_DEVICE=${asked} asks for`;
  if (asked === "cpu") {
    return onCpu(`${because} it`);
  }
  const [, number] = /^vulkan(?::(\d+))?$/.exec(asked) ?? [null, null];
  if (number === null)
    return nothing(`PUMICE_DEVICE=${asked} names no device: it takes cpu, vulkan or vulkan:<number>.`);
  if (number === undefined) {
    const usable = candidates.filter(isUsable);
    const best = usable.find(isGpu) ?? usable[0];
    return best
      ? take(best, `${because} the best Vulkan device`)
      : nothing(`${because} Vulkan, but ${noneUsable(candidates)}`);
  }
  const found = candidates.find(({ index }) => index === Number(number));
  if (!found) return nothing(`${because} a device that is not there: ${listing(candidates)}.`);
  if (found.refusal) return nothing(`${because} ${found.name}, which cannot be used: ${found.refusal}.`);
  return take(found, `${because} it`);
}

function chooseDefault(candidates: readonly Candidate[]): Choice {
  const usable = candidates.filter(isUsable);
  const [best, second] = usable.filter(isGpu);
  if (!best) {
    return usable.length === 0
      ? onCpu(noneUsable(candidates).replace(/\.$/, ""))
      : onCpu(
          "only software Vulkan was found, which is slower than the CPU engine and used only when asked for: " +
            "PUMICE_DEVICE=vulkan",
        );
  }
  if (!second) return take(best, "it is the only GPU that can be used");
  if (best.type !== second.type) return take(best, `a ${kinds[best.type]} is preferred over a ${kinds[second.type]}`);
  const alike = usable.filter(({ type }) => type === best.type);
  return take(best, `it has the most memory of ${plural(alike.length, kinds[best.type])}`);
}

function noneUsable(candidates: readonly Candidate[]): string {
  const [first] = candidates;
  if (!first) return "no Vulkan device was found; `pumice doctor` says what is missing.";
  if (candidates.length === 1) return `${first.name} cannot be used: ${first.refusal}.`;
  return `none of the ${candidates.length} devices can be used; \`pumice doctor\` says what to do.`;
}

function listing(candidates: readonly Candidate[]): string {
  if (candidates.length === 0) return "there are no Vulkan devices";
  return `there are ${candidates.map(({ index, name }) => `vulkan:${index} (${name})`).join(", ")}`;
}
