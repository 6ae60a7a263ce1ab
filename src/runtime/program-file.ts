/**
 * A compiled program as bytes, so that another process need not compile it again: the code of its kernels, and the rest as
 * JSON. The bodies of kernels in the loop language are left out; running a program does not need them.
 * engines/disk/program-cache.ts keeps the bytes on disk and checks that they are unchanged.
 *
 * In order: the length of the JSON as u32, the JSON, the codes.
 */
import type { MemoryPlan } from "../compiler/program/memory-plan.js";
import { kernelsOf, type Program, type Step, withSteps } from "../compiler/program/program.js";
import type { EncodedKernel, KernelInterface } from "../core/encoded-kernel.js";

/** A program with its memory planned. */
export interface PlannedProgram<Code> {
  readonly program: Program<Code>;
  readonly plan: MemoryPlan;
  /** For each result the leaf whose memory it may take over, or -1. */
  readonly inPlace: readonly number[];
  /** It was not compiled by this process. */
  readonly isFromDisk: boolean;
}

interface CodeEntry extends KernelInterface, Pick<EncodedKernel, "numbers"> {
  /** The number of its bytes. */
  readonly length: number;
}

interface Contents extends Pick<PlannedProgram<unknown>, "plan" | "inPlace"> {
  readonly codes: readonly CodeEntry[];
  readonly program: Pick<Program<number>, "steps" | "made" | "leaves">;
}

/** Stands for the code of a kernel without rows: there is none. */
const NO_CODE = -1;

/** `encodingOf` gives the encoded kernel that a code was loaded from. */
export function packProgram<Code>(
  { program, plan, inPlace }: PlannedProgram<Code>,
  encodingOf: (code: Code) => EncodedKernel,
): Uint8Array {
  const running = kernelsOf(program.steps).filter(({ kernel }) => kernel.rows > 0);
  const kernels = new Map(running.map(({ kernel, code }) => [code, kernel]));
  const numbers = new Map([...kernels.keys()].map((code, i) => [code, i]));
  const codes = [...kernels].map(([code, kernel]) => ({ kernel, ...encodingOf(code) }));
  const steps = withCodes(program.steps, (code) => numbers.get(code) ?? NO_CODE);
  const contents: Contents = {
    codes: codes.map(({ kernel: { name, buffers }, bytes, numbers: own }) => ({
      name,
      buffers: buffers.map(({ isWritten }) => ({ isWritten })),
      length: bytes.length,
      numbers: own,
    })),
    program: { steps, made: program.made, leaves: program.leaves },
    plan,
    inPlace,
  };
  const json = new TextEncoder().encode(JSON.stringify(contents));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, json.length, true);
  return joined([length, json, ...codes.map(({ bytes }) => bytes)]);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** `load` makes code ready to run. */
export function unpackProgram<Code>(
  packed: Uint8Array,
  load: (encoded: EncodedKernel, kernel: KernelInterface) => Code,
): PlannedProgram<Code> {
  let at = 4 + new DataView(packed.buffer, packed.byteOffset, packed.byteLength).getUint32(0, true);
  const json = new TextDecoder().decode(packed.subarray(4, at));
  const { codes, program, plan, inPlace } = JSON.parse(json) as Contents;
  const loaded = codes.map(({ name, buffers, length, numbers }) => {
    // A copy: it is aligned to words, and does not keep the whole file in memory.
    const code = new Uint8Array(packed.subarray(at, at + length));
    at += length;
    return load({ bytes: code, numbers }, { name, buffers });
  });
  const steps = withCodes(program.steps, (number) => (number === NO_CODE ? (null as Code) : loaded[number]));
  return { program: withSteps<Code>(program, steps), plan, inPlace, isFromDisk: true };
}

/** The same steps with other codes. Kernels keep their outline only, without a body. */
function withCodes<From, To>(steps: readonly Step<From>[], codeOf: (code: From) => To): Step<To>[] {
  const inner = (some: readonly Step<From>[]) => withCodes(some, codeOf);
  return steps.map((step) => {
    if (step.kind === "kernel") return { ...step, kernel: { ...step.kernel, body: null }, code: codeOf(step.code) };
    if (step.kind === "loop") return { ...step, steps: inner(step.steps) };
    return { ...step, test: inner(step.test), steps: inner(step.steps), finish: inner(step.finish) };
  });
}
