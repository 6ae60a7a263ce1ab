/** A consumer's program, last part: every name of `pumice/vulkan`. Only the types are checked: there may be no device. */
import * as vulkan from "pumice/vulkan";
import { catalogue, openDevice, spirv } from "pumice/vulkan";
import type { Calls } from "./methods.js";

async function buffers() {
  const device = await openDevice({ software: true });
  return { device, a: device.upload(new Float32Array(4)), b: device.alloc(16), out: device.alloc(16) };
}

/** A module whose kernel doubles its numbers. */
function doubling(): spirv.ModuleBuilder {
  const m = new spirv.ModuleBuilder({ noContraction: true });
  const x = m.storageBuffer(m.f32, { binding: 0, name: "x" });
  m.entry("main", { localSize: [64] }, (f) => {
    const i = f.builtin("GlobalInvocationId").x;
    x.store(i, f.mul(x.load(i), 2));
  });
  return m;
}

const vector = (): spirv.VectorType => doubling().vec(doubling().f32, 4) as spirv.VectorType;

export const vulkanCalls: Calls = {
  DeviceBuffer: async () => (await buffers()).a instanceof vulkan.DeviceBuffer,
  HostBuffer: async () => (await buffers()).device.hostBuffer(16) instanceof vulkan.HostBuffer,
  Kernel: async () => {
    const { device, a, out } = await buffers();
    const kernel: vulkan.Kernel = device.kernel(new Uint32Array(4), { entry: "main", specialization: { 0: 1 } });
    kernel.run({ buffers: [a, out], push: new Uint32Array(1), groups: [1] });
    return kernel instanceof vulkan.Kernel;
  },
  Profile: async () => (await (await buffers()).device.profile(() => {})) instanceof vulkan.Profile,
  VulkanDevice: async () => (await openDevice({ index: 0 })) instanceof vulkan.VulkanDevice,
  cacheFolder: (): string | null => vulkan.cacheFolder(),
  cacheRefusal: (): string | null => vulkan.cacheRefusal(),
  listTunings: (): string[] => vulkan.listTunings().map(({ path, problem }) => path + problem),
  cacheKinds: () => vulkan.cacheKinds.map(({ kind }) => kind),
  inspectLoader: (): vulkan.LoaderReport => vulkan.inspectLoader(),
  listDevices: (): vulkan.ListedDevice[] => vulkan.listDevices({ validate: "sync" }),
  loaderRemedy: (): string => vulkan.loaderRemedy("linux"),
  openDevice: async () => await (await openDevice({ software: true, cacheFolder: null })).close(),
  planDevice: () => vulkan.listDevices().map(({ properties }) => vulkan.planDevice(properties).ok),
  "catalogue.applyBinary": async () => {
    const { out, a, b } = await buffers();
    catalogue.applyBinary(out, a, b, 4, catalogue.binaryOps.indexOf("add"));
    return new Float32Array((await out.read()).buffer);
  },
  "catalogue.applyUnary": async () => {
    const { out, a } = await buffers();
    catalogue.applyUnary(out, a, 2, 0, { type: "f64" });
  },
  "catalogue.binaryOps": () => catalogue.binaryOps.length,
  "catalogue.gaussianChainShader": (): Uint32Array => catalogue.gaussianChainShader("f64"),
  "catalogue.leapfrogChain": async () => {
    const { device } = await buffers();
    const bytes = new Float32Array(1);
    const chain = await catalogue.leapfrogChain(device, bytes, bytes, bytes, bytes, 1, new Uint32Array(1), {
      type: "f64",
    });
    const energies: Float64Array = chain.logp;
    return energies;
  },
  "catalogue.matmul": async () => {
    const { out, a, b } = await buffers();
    catalogue.matmul(out, a, b, 2, 2, 2);
  },
  "catalogue.reduceAxis": async () => {
    const { out, a } = await buffers();
    catalogue.reduceAxis(out, a, 1, 4, 1, catalogue.reduceOps.indexOf("max"));
  },
  "catalogue.reduceOps": () => catalogue.reduceOps,
  "catalogue.transpose2d": async () => {
    const { out, a } = await buffers();
    catalogue.transpose2d(out, a, 2, 2);
  },
  "catalogue.unaryOps": () => catalogue.unaryOps,
  "spirv.CONTAINS_BFLOAT16": (): number => spirv.CONTAINS_BFLOAT16,
  "spirv.CONTAINS_FLOAT16": () => spirv.CONTAINS_FLOAT16,
  "spirv.CONTAINS_INT16": () => spirv.CONTAINS_INT16,
  "spirv.CONTAINS_INT8": () => spirv.CONTAINS_INT8,
  "spirv.ModuleBuilder": () => new spirv.ModuleBuilder({ version: [1, 5] }).f32,
  "spirv.Value": () => doubling().constant(doubling().f32, 1) instanceof spirv.Value,
  "spirv.alignOf": (): number => spirv.alignOf(vector()),
  "spirv.componentsOf": () => spirv.componentsOf(vector()),
  "spirv.disassemble": (): string => spirv.disassemble(doubling().build(), { names: false }),
  "spirv.elementOf": () => spirv.elementOf(vector())?.kind,
  "spirv.scalarOf": () => spirv.scalarOf(vector())?.kind,
  "spirv.byteSizeOf": () => spirv.byteSizeOf(vector()),
  "spirv.strideOf": () => spirv.strideOf(vector()),
};
