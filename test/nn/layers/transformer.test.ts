import { describeLayerCases } from "../../support/layer-cases.js";

describeLayerCases("encoderBlock", "decoderBlock", "transformerEncoder");
