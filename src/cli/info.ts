/** `pumice info`: lists the devices of this machine, their abilities, and the default one. */
import type { ListedDevice } from "../vulkan/index.js";
import { type Candidate, type Choice, chooseDevice } from "./choice.js";
import type { Command } from "./command.js";
import { describeDetails, describeDevice, type Line, type PlannedDevice } from "./description.js";
import { firstLine, isExpected, loadVulkan, type Vulkan } from "./surface.js";
import { plural, type Terminal, toJson, wrap } from "./terminal.js";

export const info: Command = {
  name: "info",
  summary: "the devices of this machine, what they can do, and which one would be used",
  usage: "[--json] [--verbose]",
  switches: {
    json: "everything, as JSON",
    verbose: "also matrix shapes, memory types, queues, and what Pumice switches on",
  },
  help: `
Devices are listed best first: discrete GPUs, then virtual and integrated ones, then software. The number is the one
in PUMICE_DEVICE=vulkan:1 and setDefaultDevice("vulkan:1"), and the index of openDevice of pumice/vulkan.

PUMICE_DEVICE=vulkan:1 chooses a device, PUMICE_DEVICE=vulkan the best Vulkan device, software included, and
PUMICE_DEVICE=cpu the CPU engine. Tensors follow it, and so does openDevice() of pumice/vulkan where the program does
not name a device.

Exit code: 0, or 1 when Vulkan cannot be used at all.`,

  async run(given, terminal) {
    if (given.has("json")) return printJson(terminal);
    const vulkan = await loadVulkan();
    const devices = vulkan.listDevices();
    const loader = vulkan.inspectLoader();
    terminal.print(
      `${plural(devices.length, "Vulkan device")}, through the loader ${loader.path} ${loader.version.join(".")}`,
    );
    const choice = chooseDevice(devices.map(toCandidate), process.env.PUMICE_DEVICE);
    for (const device of devices) {
      const details = given.has("verbose") ? describeDetails(planned(device, vulkan)) : [];
      printDevice(device, [...describeDevice(device), ...details], choice.index === device.index, terminal);
    }
    terminal.print();
    printChoice(choice, devices, terminal);
    return 0;
  },
};

export function toCandidate({ index, properties: { name, type }, refusal }: ListedDevice): Candidate {
  return { index, name, type, refusal };
}

function printDevice(device: ListedDevice, lines: readonly Line[], isChosen: boolean, terminal: Terminal): void {
  const labelWidth = Math.max(...lines.map(([label]) => label.length));
  const mark = isChosen ? terminal.paint("green", "  ← would be used") : "";
  terminal.print(`\n${terminal.paint("bold", `vulkan:${device.index}  ${device.properties.name}`)}${mark}`);
  for (const [label, text] of lines) {
    const colour = label === "state" ? (device.refusal ? "red" : "green") : null;
    wrap(text, terminal.width - labelWidth - 4).forEach((part, i) => {
      const head = terminal.paint("dim", (i === 0 ? label : "").padEnd(labelWidth));
      terminal.print(`  ${head}  ${colour ? terminal.paint(colour, part) : part}`);
    });
  }
}

function printChoice(choice: Choice, devices: readonly ListedDevice[], terminal: Terminal): void {
  const chosen = devices.find(({ index }) => index === choice.index);
  const text =
    choice.device === null
      ? `${process.env.PUMICE_DEVICE ? "" : "No device is used by default. "}${choice.why}`
      : `Would be used: ${choice.device}${chosen ? `, ${chosen.properties.name}` : ""}, because ${choice.why}.`;
  for (const line of wrap(text, terminal.width)) terminal.print(line);
}

/** Prints everything as JSON, also when Vulkan cannot be used. */
async function printJson(terminal: Terminal): Promise<number> {
  let devices: PlannedDevice[] = [];
  let loader: ReturnType<Vulkan["inspectLoader"]> | null = null;
  let error: string | null = null;
  try {
    const vulkan = await loadVulkan();
    loader = vulkan.inspectLoader();
    devices = vulkan.listDevices().map((device) => planned(device, vulkan));
  } catch (caught) {
    if (!(await isExpected(caught))) throw caught;
    error = firstLine(caught);
  }
  const chosen = chooseDevice(devices.map(toCandidate), process.env.PUMICE_DEVICE);
  terminal.print(toJson({ loader, devices, chosen, error }));
  return error === null ? 0 : 1;
}

function planned(device: ListedDevice, vulkan: Vulkan): PlannedDevice {
  const result = vulkan.planDevice(device.properties, process.env);
  return { ...device, plan: result.ok ? result.plan : null };
}
