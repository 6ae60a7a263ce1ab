/** A consumer's program: kernels, and the methods by them, of `pumice/learn`. */
import { random, tensor } from "pumice";
import * as learn from "pumice/learn";
import type { Calls } from "./methods.js";

const samples = [[1, 2], [3, 5], [4, 4], [6, 1]]; // biome-ignore format: a matrix
const numbers = [1, 2, 3, 5];
const labels = ["a", "b", "a", "b"];
const on = { device: "cpu" };
const { kernels } = learn;
const x = () => tensor(samples, on);

export const kernelCalls: Calls = {
  gaussianProcessClassifier: async () =>
    (await learn.gaussianProcessClassifier().fit(samples, labels, on)).predictProbability(samples),
  gaussianProcessRegressor: async () => {
    const model = await learn.gaussianProcessRegressor({ alpha: 0.1 }).fit(samples, numbers, on);
    return [model.predictWithStd(samples).std, model.sampleY(samples, random.key(1, on), { count: 2 })];
  },
  kernelPca: async () => (await learn.kernelPca({ kernel: "rbf", nComponents: 1 }).fit(samples)).transform(samples),
  kernelRidge: async () => (await learn.kernelRidge({ kernel: "rbf" }).fit(samples, numbers, on)).predict(samples),
  nuSvc: async () => (await learn.nuSvc({ nu: 0.4 }).fit(samples, labels, on)).predict(samples),
  nuSvr: async () => (await learn.nuSvr({ nu: 0.4 }).fit(samples, numbers, on)).predict(samples),
  oneClassSvm: async () => (await learn.oneClassSvm({ nu: 0.3 }).fit(samples, undefined, on)).predict(samples),
  svc: async () => (await learn.svc({ kernel: "linear" }).fit(samples, labels, on)).decisionFunction(samples),
  svr: async () => (await learn.svr({ c: 2 }).fit(samples, numbers, on)).predict(samples),
  "kernels.constant": () => kernels.matrix(kernels.constant(2), x()),
  "kernels.dotProduct": () => kernels.matrix(kernels.dotProduct(1), x()),
  "kernels.expSineSquared": () => kernels.matrix(kernels.expSineSquared({ periodicity: 2 }), x()),
  "kernels.matern": () => kernels.matrix(kernels.matern(2, { nu: 2.5 }), x(), x()),
  "kernels.matrix": () => kernels.matrix(kernels.rbf([1, 2]), x()),
  "kernels.parameters": () => kernels.parameters(kernels.rbf(2), x()),
  "kernels.periodic": () => kernels.matrix(kernels.periodic({ lengthScale: 2 }), x()),
  "kernels.power": () => kernels.matrix(kernels.power(kernels.rbf(), 2), x()),
  "kernels.product": () => kernels.matrix(kernels.product(kernels.constant(2), kernels.rbf()), x()),
  "kernels.rationalQuadratic": () => kernels.matrix(kernels.rationalQuadratic({ alpha: 2 }), x()),
  "kernels.rbf": () => kernels.matrix(kernels.rbf(), x()),
  "kernels.sum": () => kernels.matrix(kernels.sum(kernels.rbf(), kernels.white(0.1)), x()),
  "kernels.white": () => kernels.matrix(kernels.white(0.1), x()),
};
