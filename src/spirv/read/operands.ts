/**
 * The meaning of the words after each opcode, as one short string per shape of instruction.
 *
 *     T result type   R result id   I id   L literal integer   S string   N constant of the result type
 *     X extended instruction        O opcode (without "Op")     W switch target: literal and label
 *
 * and a lower-case letter for each enumeration (ENUMERATIONS below). `?` marks an operand that may be absent, `*` one that may
 * repeat.
 * Enumerants bring operands of their own; those are in PARAMETERS. The disassembler walks these tables; a test holds
 * them against the grammar file that Khronos publishes.
 */
import {
  AccessQualifier,
  AddressingModel,
  BuiltIn,
  Capability,
  CooperativeMatrixOperands,
  Decoration,
  Dim,
  ExecutionMode,
  ExecutionModel,
  FPEncoding,
  FPFastMathMode,
  FPRoundingMode,
  FunctionControl,
  GlslStd450,
  GroupOperation,
  ImageFormat,
  ImageOperands,
  LinkageType,
  LoopControl,
  MemoryAccess,
  MemoryModel,
  Op,
  PackedVectorFormat,
  SelectionControl,
  SourceLanguage,
  StorageClass,
} from "../enumerants.js";

type OpName = keyof typeof Op;

/** Instructions by shape. */
const SHAPES: { readonly [shape: string]: string } = {
  "": "Nop FunctionEnd Return Unreachable NoLine",
  I: "Branch ReturnValue AssumeTrueKHR",
  R: "TypeVoid TypeBool TypeSampler DecorationGroup Label",
  S: "SourceContinued SourceExtension Extension ModuleProcessed",
  c: "Capability",
  II: "MemoryBarrier",
  IS: "Name",
  Ib: "SelectionMerge",
  Id: "Decorate DecorateId DecorateString",
  Ie: "ExecutionMode ExecutionModeId",
  Is: "TypeForwardPointer",
  RI: "TypeSampledImage TypeRuntimeArray",
  "RLn?": "TypeFloat",
  RS: "String ExtInstImport",
  TR: "Undef ConstantTrue ConstantFalse ConstantNull SpecConstantTrue SpecConstantFalse FunctionParameter",
  am: "MemoryModel",
  "II*": "GroupDecorate",
  III: "ControlBarrier",
  IIl: "LoopMerge",
  ILL: "Line",
  ILS: "MemberName",
  ILd: "MemberDecorate MemberDecorateString",
  "RI*": "TypeStruct",
  RII: "TypeArray",
  RIL: "TypeVector TypeMatrix",
  RLL: "TypeInt",
  RIIIII: "TypeCooperativeMatrixKHR",
  RsI: "TypePointer",
  TRI: `CopyObject Transpose Image ImageQuerySize ImageQueryLevels ImageQuerySamples ConvertFToU ConvertFToS ConvertSToF
    ConvertUToF UConvert SConvert FConvert QuantizeToF16 ConvertPtrToU ConvertUToPtr Bitcast SNegate FNegate Any All
    IsNan IsInf LogicalNot Not BitReverse BitCount ImageSparseTexelsResident GroupNonUniformElect CopyLogical
    SubgroupBallotKHR SubgroupFirstInvocationKHR SubgroupAllKHR SubgroupAnyKHR SubgroupAllEqualKHR ReadClockKHR
    CooperativeMatrixLengthKHR ConstantCompositeReplicateEXT SpecConstantCompositeReplicateEXT
    CompositeConstructReplicateEXT`,
  TRN: "Constant SpecConstant",
  "TRO*": "SpecConstantOp",
  IIII: "AtomicStore",
  "I(IL)*": "GroupMemberDecorate",
  "II(W)*": "Switch",
  "IIy?": "Store",
  "RII*": "TypeFunction",
  "TRI*": "ConstantComposite SpecConstantComposite CompositeConstruct",
  TRII: `VectorExtractDynamic SampledImage ImageQuerySizeLod ImageQueryLod IAdd FAdd ISub FSub IMul FMul UDiv SDiv FDiv
    UMod SRem SMod FRem FMod VectorTimesScalar MatrixTimesScalar VectorTimesMatrix MatrixTimesVector MatrixTimesMatrix
    OuterProduct Dot IAddCarry ISubBorrow UMulExtended SMulExtended Ordered Unordered LogicalEqual LogicalNotEqual
    LogicalOr LogicalAnd IEqual INotEqual UGreaterThan SGreaterThan UGreaterThanEqual SGreaterThanEqual ULessThan
    SLessThan ULessThanEqual SLessThanEqual FOrdEqual FUnordEqual FOrdNotEqual FUnordNotEqual FOrdLessThan
    FUnordLessThan FOrdGreaterThan FUnordGreaterThan FOrdLessThanEqual FUnordLessThanEqual FOrdGreaterThanEqual
    FUnordGreaterThanEqual ShiftRightLogical ShiftRightArithmetic ShiftLeftLogical BitwiseOr BitwiseXor BitwiseAnd
    GroupNonUniformAll GroupNonUniformAny GroupNonUniformAllEqual GroupNonUniformBroadcastFirst GroupNonUniformBallot
    GroupNonUniformInverseBallot GroupNonUniformBallotFindLSB GroupNonUniformBallotFindMSB PtrEqual PtrNotEqual PtrDiff
    SubgroupReadInvocationKHR ExpectKHR`,
  TRIL: "ArrayLength",
  TRfI: "Function",
  "IIIL*": "BranchConditional",
  "IIIi?": "ImageWrite",
  "IIII?y?": "CooperativeMatrixStoreKHR",
  "TRII*": "FunctionCall AccessChain InBoundsAccessChain",
  "TR(II)*": "Phi",
  TRIII: `ImageTexelPointer VectorInsertDynamic Select BitFieldSExtract BitFieldUExtract AtomicLoad AtomicIIncrement
    AtomicIDecrement GroupNonUniformBroadcast GroupNonUniformBallotBitExtract GroupNonUniformShuffle
    GroupNonUniformShuffleXor GroupNonUniformShuffleUp GroupNonUniformShuffleDown GroupNonUniformQuadBroadcast
    GroupNonUniformQuadSwap`,
  TRIIi: "ImageSampleExplicitLod ImageSampleProjExplicitLod ImageSparseSampleExplicitLod",
  "TRIL*": "CompositeExtract",
  TRIoI: "GroupNonUniformBallotBitCount",
  "TRIy?": "Load",
  "TRsI?": "Variable",
  "xISI*": "EntryPoint",
  "IIy?y?": "CopyMemory",
  "TRIII*": "PtrAccessChain InBoundsPtrAccessChain",
  "TRIII?y?": "CooperativeMatrixLoadKHR",
  TRIIII: `BitFieldInsert AtomicExchange AtomicIAdd AtomicISub AtomicSMin AtomicUMin AtomicSMax AtomicUMax AtomicAnd
    AtomicOr AtomicXor AtomicFMinEXT AtomicFMaxEXT AtomicFAddEXT`,
  TRIIIi: "ImageSampleDrefExplicitLod ImageSampleProjDrefExplicitLod ImageSparseSampleDrefExplicitLod",
  "TRIIL*": "VectorShuffle CompositeInsert",
  "TRIIi?": `ImageSampleImplicitLod ImageSampleProjImplicitLod ImageFetch ImageRead ImageSparseSampleImplicitLod
    ImageSparseFetch ImageSparseRead`,
  "TRIIv?": "SDot UDot SUDot",
  "TRIXI*": "ExtInst",
  "gLI?S?": "Source",
  "TRIIII?": "GroupNonUniformRotateKHR",
  "TRIIIi?": `ImageSampleDrefImplicitLod ImageSampleProjDrefImplicitLod ImageGather ImageDrefGather
    ImageSparseSampleDrefImplicitLod ImageSparseGather ImageSparseDrefGather`,
  "TRIIIv?": "SDotAccSat UDotAccSat SUDotAccSat",
  "TRIIIw?": "CooperativeMatrixMulAddKHR",
  "TRIoII?": `GroupNonUniformIAdd GroupNonUniformFAdd GroupNonUniformIMul GroupNonUniformFMul GroupNonUniformSMin
    GroupNonUniformUMin GroupNonUniformFMin GroupNonUniformSMax GroupNonUniformUMax GroupNonUniformFMax
    GroupNonUniformBitwiseAnd GroupNonUniformBitwiseOr GroupNonUniformBitwiseXor GroupNonUniformLogicalAnd
    GroupNonUniformLogicalOr GroupNonUniformLogicalXor`,
  TRIIIIII: "AtomicCompareExchange",
  "RIkLLLLtq?": "TypeImage",
};

/** One enumeration: its names by number, whether it is a mask, and the operands its enumerants bring. */
export interface Enumeration {
  readonly kind: string;
  readonly names: ReadonlyMap<number, string>;
  readonly isMask: boolean;
  readonly parameters: { readonly [enumerant: string]: string };
}

const PARAMETERS: { readonly [enumeration: string]: { readonly [enumerant: string]: string } } = {
  Decoration: {
    SpecId: "L",
    ArrayStride: "L",
    MatrixStride: "L",
    BuiltIn: "u",
    UniformId: "I",
    Binding: "L",
    DescriptorSet: "L",
    Offset: "L",
    FPRoundingMode: "r",
    FPFastMathMode: "p",
    LinkageAttributes: "Sh",
    CounterBuffer: "I",
    UserSemantic: "S",
  },
  ExecutionMode: {
    LocalSize: "LLL",
    LocalSizeHint: "LLL",
    SubgroupSize: "L",
    SubgroupsPerWorkgroup: "L",
    SubgroupsPerWorkgroupId: "I",
    LocalSizeId: "III",
    LocalSizeHintId: "III",
    DenormPreserve: "L",
    DenormFlushToZero: "L",
    SignedZeroInfNanPreserve: "L",
    RoundingModeRTE: "L",
    RoundingModeRTZ: "L",
    FPFastMathDefault: "II",
  },
  LoopControl: {
    DependencyLength: "L",
    MinIterations: "L",
    MaxIterations: "L",
    IterationMultiple: "L",
    PeelCount: "L",
    PartialCount: "L",
  },
  MemoryAccess: { Aligned: "L", MakePointerAvailable: "I", MakePointerVisible: "I" },
  ImageOperands: {
    Bias: "I",
    Lod: "I",
    Grad: "II",
    ConstOffset: "I",
    Offset: "I",
    ConstOffsets: "I",
    Sample: "I",
    MinLod: "I",
    MakeTexelAvailable: "I",
    MakeTexelVisible: "I",
    Offsets: "I",
  },
};

/** The letter of each enumeration in a shape. */
export const ENUMERATIONS: { readonly [letter: string]: Enumeration } = {
  a: enumeration("AddressingModel", AddressingModel),
  b: enumeration("SelectionControl", SelectionControl, true),
  c: enumeration("Capability", Capability),
  d: enumeration("Decoration", Decoration),
  e: enumeration("ExecutionMode", ExecutionMode),
  f: enumeration("FunctionControl", FunctionControl, true),
  g: enumeration("SourceLanguage", SourceLanguage),
  h: enumeration("LinkageType", LinkageType),
  i: enumeration("ImageOperands", ImageOperands, true),
  k: enumeration("Dim", Dim),
  l: enumeration("LoopControl", LoopControl, true),
  m: enumeration("MemoryModel", MemoryModel),
  n: enumeration("FPEncoding", FPEncoding),
  o: enumeration("GroupOperation", GroupOperation),
  p: enumeration("FPFastMathMode", FPFastMathMode, true),
  q: enumeration("AccessQualifier", AccessQualifier),
  r: enumeration("FPRoundingMode", FPRoundingMode),
  s: enumeration("StorageClass", StorageClass),
  t: enumeration("ImageFormat", ImageFormat),
  u: enumeration("BuiltIn", BuiltIn),
  v: enumeration("PackedVectorFormat", PackedVectorFormat),
  w: enumeration("CooperativeMatrixOperands", CooperativeMatrixOperands, true),
  x: enumeration("ExecutionModel", ExecutionModel),
  y: enumeration("MemoryAccess", MemoryAccess, true),
};

/** Name and shape of an opcode. */
interface Instruction {
  readonly name: string;
  readonly shape: string;
}

/** Every instruction the tables know, by opcode. */
export const INSTRUCTIONS: ReadonlyMap<number, Instruction> = new Map(
  Object.entries(SHAPES).flatMap(([shape, names]) =>
    names.split(/\s+/).map((name): [number, Instruction] => [Op[name as OpName], { name, shape }]),
  ),
);

export const GLSL_INSTRUCTIONS: ReadonlyMap<number, string> = byNumber(GlslStd450);

type Table = { readonly [name: string]: number };

function enumeration(kind: string, table: Table, isMask = false): Enumeration {
  return { kind, names: byNumber(table), isMask, parameters: PARAMETERS[kind] ?? {} };
}

function byNumber(table: Table): ReadonlyMap<number, string> {
  return new Map(Object.entries(table).map(([name, code]) => [code, name]));
}
