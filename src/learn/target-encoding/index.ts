/** Categories as what targets are like in them. */
export {
  type TargetEncoderLearned,
  type TargetEncoderMaker,
  type TargetEncoderOptions,
  targetEncoder,
} from "./target-encoder.js";
