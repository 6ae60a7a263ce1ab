/** A consumer's program: the functions of `pumice/nn`, activations, losses and metrics. */
import { type Tensor, tensor } from "pumice";
import { activations, losses, metrics } from "pumice/nn";
import type { Calls } from "./methods.js";

const x = (): Tensor => tensor([[1, -2, 3, 0.5]], { device: "cpu" });

const activationCalls: Calls = {
  "activations.celu": () => activations.celu(x(), { alpha: 0.5 }),
  "activations.elu": () => activations.elu(x(), { alpha: 0.5 }),
  "activations.exp": () => activations.exp(x()),
  "activations.geglu": () => activations.geglu(x(), { axis: 1 }),
  "activations.gelu": () => activations.gelu(x(), { approximate: "tanh" }),
  "activations.glu": () => activations.glu(x()),
  "activations.hardShrink": () => activations.hardShrink(x(), { lambda: 1 }),
  "activations.hardSigmoid": () => activations.hardSigmoid(x()),
  "activations.hardSilu": () => activations.hardSilu(x()),
  "activations.hardSwish": () => activations.hardSwish(x()),
  "activations.hardTanh": () => activations.hardTanh(x()),
  "activations.leakyRelu": () => activations.leakyRelu(x(), { slope: 0.2 }),
  "activations.linear": () => activations.linear(x()),
  "activations.logSigmoid": () => activations.logSigmoid(x()),
  "activations.logSoftmax": () => activations.logSoftmax(x(), { axis: 0 }),
  "activations.logSumExp": () => activations.logSumExp(x(), { keepDims: false }),
  "activations.mish": () => activations.mish(x()),
  "activations.reglu": () => activations.reglu(x()),
  "activations.relu": () => activations.relu(x()),
  "activations.relu6": () => activations.relu6(x()),
  "activations.selu": () => activations.selu(x()),
  "activations.sigmoid": () => activations.sigmoid(x()),
  "activations.silu": () => activations.silu(x()),
  "activations.softShrink": () => activations.softShrink(x()),
  "activations.softmax": () => activations.softmax(x()),
  "activations.softplus": () => activations.softplus(x()),
  "activations.softsign": () => activations.softsign(x()),
  "activations.sparsemax": () => activations.sparsemax(x()),
  "activations.swiglu": () => activations.swiglu(x()),
  "activations.tanh": () => activations.tanh(x()),
  "activations.tanhShrink": () => activations.tanhShrink(x()),
};

const t = (): Tensor => tensor([[1, 0, 0, 1]], { device: "cpu" });
const labels = (): Tensor => tensor([2], { dtype: "i32", device: "cpu" });
const frames = (): Tensor => x().reshape(1, 2, 2);

const lossCalls: Calls = {
  "losses.binaryCrossEntropy": () => losses.binaryCrossEntropy(x(), t(), { fromLogits: true }),
  "losses.categoricalCrossEntropy": () => losses.categoricalCrossEntropy(x(), labels(), { fromLogits: true }),
  "losses.categoricalHinge": () => losses.categoricalHinge(x(), t()),
  "losses.connectionistTemporalClassification": () =>
    losses.connectionistTemporalClassification(frames(), tensor([[1]], { dtype: "i32", device: "cpu" })),
  "losses.contrastive": () => losses.contrastive(x(), t(), { margin: 2 }),
  "losses.cosineSimilarity": () => losses.cosineSimilarity(x(), t(), { reduction: "none" }),
  "losses.focal": () => losses.focal(x(), t(), { fromLogits: true, gamma: 1 }),
  "losses.hinge": () => losses.hinge(x(), t()),
  "losses.huber": () => losses.huber(x(), t(), { delta: 0.5 }),
  "losses.infoNCE": () => losses.infoNCE(x(), t(), { temperature: 0.5 }),
  "losses.klDivergence": () => losses.klDivergence(x(), t(), { fromLogits: true }),
  "losses.logCosh": () => losses.logCosh(x(), t()),
  "losses.marginRanking": () => losses.marginRanking([x(), t()], t(), { margin: 1 }),
  "losses.meanAbsoluteError": () => losses.meanAbsoluteError(x(), t(), { weights: tensor([1], { device: "cpu" }) }),
  "losses.meanSquaredError": () => losses.meanSquaredError(x(), t(), { reduction: "sum" }),
  "losses.ntXent": () => losses.ntXent(x(), t()),
  "losses.poisson": () => losses.poisson(x(), t(), { fromLogs: true }),
  "losses.softMargin": () => losses.softMargin(x(), t()),
  "losses.squaredHinge": () => losses.squaredHinge(x(), t()),
  "losses.triplet": () => losses.triplet(x(), { positive: t(), negative: x() }, { swap: true }),
};

const metricCalls: Calls = {
  "metrics.accuracy": () => metrics.accuracy(x(), t()),
  "metrics.meanAbsoluteError": () => metrics.meanAbsoluteError(x(), t()),
  "metrics.meanSquaredError": () => metrics.meanSquaredError(x(), t()),
  "metrics.r2": () => metrics.r2(x(), t()),
  "metrics.rootMeanSquaredError": () => metrics.rootMeanSquaredError(x(), t()),
  "metrics.binaryAccuracy": () => metrics.binaryAccuracy(x(), t(), { threshold: 0 }),
  "metrics.f1": () => metrics.f1(x(), labels(), { average: "macro" }),
  "metrics.falseNegatives": () => metrics.falseNegatives(x(), t(), { threshold: 0 }),
  "metrics.falsePositives": () => metrics.falsePositives(x(), t(), { threshold: 0 }),
  "metrics.precision": () => metrics.precision(x(), t(), { threshold: 0 }),
  "metrics.recall": () => metrics.recall(x(), t(), { threshold: 0 }),
  "metrics.sensitivity": () => metrics.sensitivity(x(), t(), { threshold: 0 }),
  "metrics.specificity": () => metrics.specificity(x(), t(), { threshold: 0 }),
  "metrics.trueNegatives": () => metrics.trueNegatives(x(), t(), { threshold: 0 }),
  "metrics.truePositives": () => metrics.truePositives(x(), t(), { threshold: 0 }),
  "metrics.auc": () => metrics.auc(x().flatten(), t().flatten()),
  "metrics.confusionMatrix": () => metrics.confusionMatrix(x(), labels(), { classes: 4 }),
  "metrics.perplexity": () => metrics.perplexity(x(), labels(), { fromLogits: true }),
  "metrics.runningMean": () => metrics.runningMean(metrics.startMean({ device: "cpu" }), x().sum(), 4).mean,
  "metrics.startMean": () => metrics.startMean({ device: "cpu" }).weight,
  "metrics.topKAccuracy": () => metrics.topKAccuracy(x(), labels(), { k: 2 }),
};

export const functionCalls: Calls = { ...activationCalls, ...lossCalls, ...metricCalls };
