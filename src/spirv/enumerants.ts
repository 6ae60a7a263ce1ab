/**
 * The numbers of SPIR-V: opcodes and enumerants, named as in the Khronos specification (unified1, through 1.6), for the
 * part a compute module can contain. The assembler writes them, the disassembler and the module reader of the Vulkan
 * engine read them. Plain tables, no state; a test holds them against the grammar file that Khronos publishes.
 */

/** First word of every module. */
export const MAGIC = 0x07230203;

/** Words before the first instruction: magic, version, generator, id bound, schema. */
export const HEADER_WORDS = 5;

/** Opcodes, without the "Op" the specification writes before each name. */
// biome-ignore format: a table of numbers reads best in rows
export const Op = {
  // miscellaneous
  Nop: 0, Undef: 1, AssumeTrueKHR: 5630, ExpectKHR: 5631,
  // debug information
  SourceContinued: 2, Source: 3, SourceExtension: 4, Name: 5, MemberName: 6, String: 7, Line: 8, NoLine: 317,
  ModuleProcessed: 330,
  // extensions
  Extension: 10, ExtInstImport: 11, ExtInst: 12,
  // mode setting
  MemoryModel: 14, EntryPoint: 15, ExecutionMode: 16, Capability: 17, ExecutionModeId: 331,
  // types
  TypeVoid: 19, TypeBool: 20, TypeInt: 21, TypeFloat: 22, TypeVector: 23, TypeMatrix: 24, TypeImage: 25,
  TypeSampler: 26, TypeSampledImage: 27, TypeArray: 28, TypeRuntimeArray: 29, TypeStruct: 30, TypePointer: 32,
  TypeFunction: 33, TypeForwardPointer: 39,
  // constants
  ConstantTrue: 41, ConstantFalse: 42, Constant: 43, ConstantComposite: 44, ConstantNull: 46, SpecConstantTrue: 48,
  SpecConstantFalse: 49, SpecConstant: 50, SpecConstantComposite: 51, SpecConstantOp: 52,
  // functions
  Function: 54, FunctionParameter: 55, FunctionEnd: 56, FunctionCall: 57,
  // memory
  Variable: 59, ImageTexelPointer: 60, Load: 61, Store: 62, CopyMemory: 63, AccessChain: 65, InBoundsAccessChain: 66,
  PtrAccessChain: 67, ArrayLength: 68, InBoundsPtrAccessChain: 70, PtrEqual: 401, PtrNotEqual: 402, PtrDiff: 403,
  // annotations
  Decorate: 71, MemberDecorate: 72, DecorationGroup: 73, GroupDecorate: 74, GroupMemberDecorate: 75, DecorateId: 332,
  DecorateString: 5632, MemberDecorateString: 5633,
  // composites
  VectorExtractDynamic: 77, VectorInsertDynamic: 78, VectorShuffle: 79, CompositeConstruct: 80, CompositeExtract: 81,
  CompositeInsert: 82, CopyObject: 83, Transpose: 84, CopyLogical: 400,
  // images
  SampledImage: 86, ImageSampleImplicitLod: 87, ImageSampleExplicitLod: 88, ImageSampleDrefImplicitLod: 89,
  ImageSampleDrefExplicitLod: 90, ImageSampleProjImplicitLod: 91, ImageSampleProjExplicitLod: 92,
  ImageSampleProjDrefImplicitLod: 93, ImageSampleProjDrefExplicitLod: 94, ImageFetch: 95, ImageGather: 96,
  ImageDrefGather: 97, ImageRead: 98, ImageWrite: 99, Image: 100, ImageQuerySizeLod: 103, ImageQuerySize: 104,
  ImageQueryLod: 105, ImageQueryLevels: 106, ImageQuerySamples: 107, ImageSparseSampleImplicitLod: 305,
  ImageSparseSampleExplicitLod: 306, ImageSparseSampleDrefImplicitLod: 307, ImageSparseSampleDrefExplicitLod: 308,
  ImageSparseFetch: 313, ImageSparseGather: 314, ImageSparseDrefGather: 315, ImageSparseTexelsResident: 316,
  ImageSparseRead: 320,
  // conversions
  ConvertFToU: 109, ConvertFToS: 110, ConvertSToF: 111, ConvertUToF: 112, UConvert: 113, SConvert: 114, FConvert: 115,
  QuantizeToF16: 116, ConvertPtrToU: 117, ConvertUToPtr: 120, Bitcast: 124,
  // arithmetic; the dot products of packed integers are core in 1.6
  SNegate: 126, FNegate: 127, IAdd: 128, FAdd: 129, ISub: 130, FSub: 131, IMul: 132, FMul: 133, UDiv: 134, SDiv: 135,
  FDiv: 136, UMod: 137, SRem: 138, SMod: 139, FRem: 140, FMod: 141, VectorTimesScalar: 142, MatrixTimesScalar: 143,
  VectorTimesMatrix: 144, MatrixTimesVector: 145, MatrixTimesMatrix: 146, OuterProduct: 147, Dot: 148, IAddCarry: 149,
  ISubBorrow: 150, UMulExtended: 151, SMulExtended: 152, SDot: 4450, UDot: 4451, SUDot: 4452, SDotAccSat: 4453,
  UDotAccSat: 4454, SUDotAccSat: 4455,
  // comparisons and logic
  Any: 154, All: 155, IsNan: 156, IsInf: 157, Ordered: 162, Unordered: 163, LogicalEqual: 164, LogicalNotEqual: 165,
  LogicalOr: 166, LogicalAnd: 167, LogicalNot: 168, Select: 169, IEqual: 170, INotEqual: 171, UGreaterThan: 172,
  SGreaterThan: 173, UGreaterThanEqual: 174, SGreaterThanEqual: 175, ULessThan: 176, SLessThan: 177,
  ULessThanEqual: 178, SLessThanEqual: 179, FOrdEqual: 180, FUnordEqual: 181, FOrdNotEqual: 182, FUnordNotEqual: 183,
  FOrdLessThan: 184, FUnordLessThan: 185, FOrdGreaterThan: 186, FUnordGreaterThan: 187, FOrdLessThanEqual: 188,
  FUnordLessThanEqual: 189, FOrdGreaterThanEqual: 190, FUnordGreaterThanEqual: 191,
  // bits
  ShiftRightLogical: 194, ShiftRightArithmetic: 195, ShiftLeftLogical: 196, BitwiseOr: 197, BitwiseXor: 198,
  BitwiseAnd: 199, Not: 200, BitFieldInsert: 201, BitFieldSExtract: 202, BitFieldUExtract: 203, BitReverse: 204,
  BitCount: 205,
  // barriers
  ControlBarrier: 224, MemoryBarrier: 225,
  // atomics
  AtomicLoad: 227, AtomicStore: 228, AtomicExchange: 229, AtomicCompareExchange: 230, AtomicIIncrement: 232,
  AtomicIDecrement: 233, AtomicIAdd: 234, AtomicISub: 235, AtomicSMin: 236, AtomicUMin: 237, AtomicSMax: 238,
  AtomicUMax: 239, AtomicAnd: 240, AtomicOr: 241, AtomicXor: 242, AtomicFMinEXT: 5614, AtomicFMaxEXT: 5615,
  AtomicFAddEXT: 6035,
  // control flow
  Phi: 245, LoopMerge: 246, SelectionMerge: 247, Label: 248, Branch: 249, BranchConditional: 250, Switch: 251,
  Return: 253, ReturnValue: 254, Unreachable: 255,
  // subgroups
  GroupNonUniformElect: 333, GroupNonUniformAll: 334, GroupNonUniformAny: 335, GroupNonUniformAllEqual: 336,
  GroupNonUniformBroadcast: 337, GroupNonUniformBroadcastFirst: 338, GroupNonUniformBallot: 339,
  GroupNonUniformInverseBallot: 340, GroupNonUniformBallotBitExtract: 341, GroupNonUniformBallotBitCount: 342,
  GroupNonUniformBallotFindLSB: 343, GroupNonUniformBallotFindMSB: 344, GroupNonUniformShuffle: 345,
  GroupNonUniformShuffleXor: 346, GroupNonUniformShuffleUp: 347, GroupNonUniformShuffleDown: 348,
  GroupNonUniformIAdd: 349, GroupNonUniformFAdd: 350, GroupNonUniformIMul: 351, GroupNonUniformFMul: 352,
  GroupNonUniformSMin: 353, GroupNonUniformUMin: 354, GroupNonUniformFMin: 355, GroupNonUniformSMax: 356,
  GroupNonUniformUMax: 357, GroupNonUniformFMax: 358, GroupNonUniformBitwiseAnd: 359, GroupNonUniformBitwiseOr: 360,
  GroupNonUniformBitwiseXor: 361, GroupNonUniformLogicalAnd: 362, GroupNonUniformLogicalOr: 363,
  GroupNonUniformLogicalXor: 364, GroupNonUniformQuadBroadcast: 365, GroupNonUniformQuadSwap: 366,
  // subgroups, by KHR extension
  SubgroupBallotKHR: 4421, SubgroupFirstInvocationKHR: 4422, SubgroupAllKHR: 4428, SubgroupAnyKHR: 4429,
  SubgroupAllEqualKHR: 4430, GroupNonUniformRotateKHR: 4431, SubgroupReadInvocationKHR: 4432,
  // clock
  ReadClockKHR: 5056,
  // cooperative matrices and replicated composites
  TypeCooperativeMatrixKHR: 4456, CooperativeMatrixLoadKHR: 4457, CooperativeMatrixStoreKHR: 4458,
  CooperativeMatrixMulAddKHR: 4459, CooperativeMatrixLengthKHR: 4460, ConstantCompositeReplicateEXT: 4461,
  SpecConstantCompositeReplicateEXT: 4462, CompositeConstructReplicateEXT: 4463,
} as const;

/** Capabilities: a module must declare each one it uses. */
// biome-ignore format: a table of numbers reads best in rows
export const Capability = {
  Matrix: 0, Shader: 1, Linkage: 5, Float16: 9, Float64: 10, Int64: 11, Int64Atomics: 12, Groups: 18, Int16: 22,
  ImageGatherExtended: 25, StorageImageMultisample: 27, UniformBufferArrayDynamicIndexing: 28,
  SampledImageArrayDynamicIndexing: 29, StorageBufferArrayDynamicIndexing: 30, StorageImageArrayDynamicIndexing: 31,
  ImageCubeArray: 34, ImageRect: 36, SampledRect: 37, Int8: 39, SparseResidency: 41, MinLod: 42, Sampled1D: 43,
  Image1D: 44, SampledCubeArray: 45, SampledBuffer: 46, ImageBuffer: 47, ImageMSArray: 48,
  StorageImageExtendedFormats: 49, ImageQuery: 50, StorageImageReadWithoutFormat: 55,
  StorageImageWriteWithoutFormat: 56, GroupNonUniform: 61, GroupNonUniformVote: 62, GroupNonUniformArithmetic: 63,
  GroupNonUniformBallot: 64, GroupNonUniformShuffle: 65, GroupNonUniformShuffleRelative: 66,
  GroupNonUniformClustered: 67, GroupNonUniformQuad: 68, UniformDecoration: 71, Float8EXT: 4212,
  Float8CooperativeMatrixEXT: 4213, SubgroupBallotKHR: 4423, WorkgroupMemoryExplicitLayoutKHR: 4428,
  WorkgroupMemoryExplicitLayout8BitAccessKHR: 4429, WorkgroupMemoryExplicitLayout16BitAccessKHR: 4430,
  SubgroupVoteKHR: 4431, StorageBuffer16BitAccess: 4433, UniformAndStorageBuffer16BitAccess: 4434,
  StoragePushConstant16: 4435, StorageInputOutput16: 4436, DeviceGroup: 4437, VariablePointersStorageBuffer: 4441,
  VariablePointers: 4442, StorageBuffer8BitAccess: 4448, UniformAndStorageBuffer8BitAccess: 4449,
  StoragePushConstant8: 4450, DenormPreserve: 4464, DenormFlushToZero: 4465, SignedZeroInfNanPreserve: 4466,
  RoundingModeRTE: 4467, RoundingModeRTZ: 4468, Int64ImageEXT: 5016, ShaderClockKHR: 5055, BFloat16TypeKHR: 5116,
  BFloat16DotProductKHR: 5117, BFloat16CooperativeMatrixKHR: 5118, ShaderNonUniform: 5301,
  RuntimeDescriptorArray: 5302, UniformTexelBufferArrayDynamicIndexing: 5304,
  StorageTexelBufferArrayDynamicIndexing: 5305, UniformBufferArrayNonUniformIndexing: 5306,
  SampledImageArrayNonUniformIndexing: 5307, StorageBufferArrayNonUniformIndexing: 5308,
  StorageImageArrayNonUniformIndexing: 5309, UniformTexelBufferArrayNonUniformIndexing: 5311,
  StorageTexelBufferArrayNonUniformIndexing: 5312, VulkanMemoryModel: 5345, VulkanMemoryModelDeviceScope: 5346,
  PhysicalStorageBufferAddresses: 5347, AtomicFloat32MinMaxEXT: 5612, AtomicFloat64MinMaxEXT: 5613,
  AtomicFloat16MinMaxEXT: 5616, ExpectAssumeKHR: 5629, DotProductInputAll: 6016, DotProductInput4x8Bit: 6017,
  DotProductInput4x8BitPacked: 6018, DotProduct: 6019, CooperativeMatrixKHR: 6022, ReplicatedCompositesEXT: 6024,
  BitInstructions: 6025, GroupNonUniformRotateKHR: 6026, FloatControls2: 6029, AtomicFloat32AddEXT: 6033,
  AtomicFloat64AddEXT: 6034, AtomicFloat16AddEXT: 6095,
} as const;

/** Storage classes of variables. */
// biome-ignore format: a table of numbers reads best in rows
export const StorageClass = {
  UniformConstant: 0, Input: 1, Uniform: 2, Output: 3, Workgroup: 4, CrossWorkgroup: 5, Private: 6, Function: 7,
  PushConstant: 9, Image: 11, StorageBuffer: 12, PhysicalStorageBuffer: 5349,
} as const;

/** Decorations of annotations. */
// biome-ignore format: a table of numbers reads best in rows
export const Decoration = {
  RelaxedPrecision: 0, SpecId: 1, Block: 2, BufferBlock: 3, RowMajor: 4, ColMajor: 5, ArrayStride: 6, MatrixStride: 7,
  BuiltIn: 11, Restrict: 19, Aliased: 20, Volatile: 21, Constant: 22, Coherent: 23, NonWritable: 24, NonReadable: 25,
  Uniform: 26, UniformId: 27, Binding: 33, DescriptorSet: 34, Offset: 35, FPRoundingMode: 39, FPFastMathMode: 40,
  LinkageAttributes: 41, NoContraction: 42, NoSignedWrap: 4469, NoUnsignedWrap: 4470, NonUniform: 5300,
  RestrictPointer: 5355, AliasedPointer: 5356, CounterBuffer: 5634, UserSemantic: 5635,
} as const;

/** The pipeline stage of an entry point. */
// biome-ignore format: a table of numbers reads best in rows
export const ExecutionModel = {
  Vertex: 0, TessellationControl: 1, TessellationEvaluation: 2, Geometry: 3, Fragment: 4, GLCompute: 5, Kernel: 6,
} as const;

/** Execution modes of entry points. */
// biome-ignore format: a table of numbers reads best in rows
export const ExecutionMode = {
  LocalSize: 17, LocalSizeHint: 18, ContractionOff: 31, Initializer: 33, Finalizer: 34, SubgroupSize: 35,
  SubgroupsPerWorkgroup: 36, SubgroupsPerWorkgroupId: 37, LocalSizeId: 38, LocalSizeHintId: 39,
  SubgroupUniformControlFlowKHR: 4421, DenormPreserve: 4459, DenormFlushToZero: 4460, SignedZeroInfNanPreserve: 4461,
  RoundingModeRTE: 4462, RoundingModeRTZ: 4463, MaximallyReconvergesKHR: 6023, FPFastMathDefault: 6028,
} as const;

/** Values a shader is given; those a compute shader can ask for. */
// biome-ignore format: a table of numbers reads best in rows
export const BuiltIn = {
  NumWorkgroups: 24, WorkgroupSize: 25, WorkgroupId: 26, LocalInvocationId: 27, GlobalInvocationId: 28,
  LocalInvocationIndex: 29, SubgroupSize: 36, SubgroupMaxSize: 37, NumSubgroups: 38, NumEnqueuedSubgroups: 39,
  SubgroupId: 40, SubgroupLocalInvocationId: 41, SubgroupEqMask: 4416, SubgroupGeMask: 4417, SubgroupGtMask: 4418,
  SubgroupLeMask: 4419, SubgroupLtMask: 4420, DeviceIndex: 4438,
} as const;

/** Scopes: the invocations that take part. */
// biome-ignore format: a table of numbers reads best in rows
export const Scope = {
  CrossDevice: 0, Device: 1, Workgroup: 2, Subgroup: 3, Invocation: 4, QueueFamily: 5, ShaderCallKHR: 6,
} as const;

/** Ordering, and the memory it covers; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const MemorySemantics = {
  Relaxed: 0, Acquire: 2, Release: 4, AcquireRelease: 8, SequentiallyConsistent: 0x10, UniformMemory: 0x40,
  SubgroupMemory: 0x80, WorkgroupMemory: 0x100, CrossWorkgroupMemory: 0x200, AtomicCounterMemory: 0x400,
  ImageMemory: 0x800, OutputMemory: 0x1000, MakeAvailable: 0x2000, MakeVisible: 0x4000, Volatile: 0x8000,
} as const;

/** Addressing models: how pointers are represented. */
// biome-ignore format: a table of numbers reads best in rows
export const AddressingModel = {
  Logical: 0, PhysicalStorageBuffer64: 5348,
} as const;

/** Memory models. */
// biome-ignore format: a table of numbers reads best in rows
export const MemoryModel = {
  Simple: 0, GLSL450: 1, Vulkan: 3,
} as const;

/** Reduction or scan over a subgroup. */
// biome-ignore format: a table of numbers reads best in rows
export const GroupOperation = {
  Reduce: 0, InclusiveScan: 1, ExclusiveScan: 2, ClusteredReduce: 3,
} as const;

/** Hints on a function; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const FunctionControl = {
  None: 0, Inline: 1, DontInline: 2, Pure: 4, Const: 8,
} as const;

/** Hints on a loop; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const LoopControl = {
  None: 0, Unroll: 1, DontUnroll: 2, DependencyInfinite: 4, DependencyLength: 8, MinIterations: 0x10,
  MaxIterations: 0x20, IterationMultiple: 0x40, PeelCount: 0x80, PartialCount: 0x100,
} as const;

/** Hints on a branch; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const SelectionControl = {
  None: 0, Flatten: 1, DontFlatten: 2,
} as const;

/** Memory operands of a load or store; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const MemoryAccess = {
  None: 0, Volatile: 1, Aligned: 2, Nontemporal: 4, MakePointerAvailable: 8, MakePointerVisible: 0x10,
  NonPrivatePointer: 0x20,
} as const;

/** Optional operands of image instructions; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const ImageOperands = {
  None: 0, Bias: 1, Lod: 2, Grad: 4, ConstOffset: 8, Offset: 0x10, ConstOffsets: 0x20, Sample: 0x40, MinLod: 0x80,
  MakeTexelAvailable: 0x100, MakeTexelVisible: 0x200, NonPrivateTexel: 0x400, VolatileTexel: 0x800,
  SignExtend: 0x1000, ZeroExtend: 0x2000, Nontemporal: 0x4000, Offsets: 0x10000,
} as const;

/** Dimensionality of an image. */
// biome-ignore format: a table of numbers reads best in rows
export const Dim = {
  "1D": 0, "2D": 1, "3D": 2, Cube: 3, Rect: 4, Buffer: 5, SubpassData: 6,
} as const;

/** Texel format of a storage image. */
// biome-ignore format: a table of numbers reads best in rows
export const ImageFormat = {
  Unknown: 0, Rgba32f: 1, Rgba16f: 2, R32f: 3, Rgba8: 4, Rgba8Snorm: 5, Rg32f: 6, Rg16f: 7, R11fG11fB10f: 8, R16f: 9,
  Rgba16: 10, Rgb10A2: 11, Rg16: 12, Rg8: 13, R16: 14, R8: 15, Rgba16Snorm: 16, Rg16Snorm: 17, Rg8Snorm: 18,
  R16Snorm: 19, R8Snorm: 20, Rgba32i: 21, Rgba16i: 22, Rgba8i: 23, R32i: 24, Rg32i: 25, Rg16i: 26, Rg8i: 27, R16i: 28,
  R8i: 29, Rgba32ui: 30, Rgba16ui: 31, Rgba8ui: 32, R32ui: 33, Rgb10a2ui: 34, Rg32ui: 35, Rg16ui: 36, Rg8ui: 37,
  R16ui: 38, R8ui: 39, R64ui: 40, R64i: 41,
} as const;

/** Source languages of modules. */
// biome-ignore format: a table of numbers reads best in rows
export const SourceLanguage = {
  Unknown: 0, ESSL: 1, GLSL: 2, OpenCL_C: 3, OpenCL_CPP: 4, HLSL: 5, CPP_for_OpenCL: 6, SYCL: 7, WGSL: 10, Slang: 11,
  Zig: 12,
} as const;

/** Rounding of one conversion. */
// biome-ignore format: a table of numbers reads best in rows
export const FPRoundingMode = {
  RTE: 0, RTZ: 1, RTP: 2, RTN: 3,
} as const;

/** Assumptions allowed for one float instruction; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const FPFastMathMode = {
  None: 0, NotNaN: 1, NotInf: 2, NSZ: 4, AllowRecip: 8, Fast: 0x10, AllowContract: 0x10000, AllowReassoc: 0x20000,
  AllowTransform: 0x40000,
} as const;

/** Import or export of a library symbol. */
// biome-ignore format: a table of numbers reads best in rows
export const LinkageType = {
  Export: 0, Import: 1, LinkOnceODR: 2,
} as const;

/** Access to an image in a kernel. */
// biome-ignore format: a table of numbers reads best in rows
export const AccessQualifier = {
  ReadOnly: 0, WriteOnly: 1, ReadWrite: 2,
} as const;

/** Layout of the integers in a packed dot product. */
// biome-ignore format: a table of numbers reads best in rows
export const PackedVectorFormat = {
  PackedVectorFormat4x8Bit: 0,
} as const;

/** Encoding of a float type that is not the IEEE 754 one of its width. */
// biome-ignore format: a table of numbers reads best in rows
export const FPEncoding = {
  BFloat16KHR: 0, Float8E4M3EXT: 4214, Float8E5M2EXT: 4215,
} as const;

/** The place of a cooperative matrix in A·B + C. */
// biome-ignore format: a table of numbers reads best in rows
export const CooperativeMatrixUse = {
  MatrixAKHR: 0, MatrixBKHR: 1, MatrixAccumulatorKHR: 2,
} as const;

/** Order of a cooperative matrix in memory. */
// biome-ignore format: a table of numbers reads best in rows
export const CooperativeMatrixLayout = {
  RowMajorKHR: 0, ColumnMajorKHR: 1,
} as const;

/** Signedness and saturation of integer cooperative matrices; a mask. */
// biome-ignore format: a table of numbers reads best in rows
export const CooperativeMatrixOperands = {
  NoneKHR: 0, MatrixASignedComponentsKHR: 1, MatrixBSignedComponentsKHR: 2, MatrixCSignedComponentsKHR: 4,
  MatrixResultSignedComponentsKHR: 8, SaturatingAccumulationKHR: 0x10,
} as const;

/** Instructions of the extended set "GLSL.std.450". */
// biome-ignore format: a table of numbers reads best in rows
export const GlslStd450 = {
  Round: 1, RoundEven: 2, Trunc: 3, FAbs: 4, SAbs: 5, FSign: 6, SSign: 7, Floor: 8, Ceil: 9, Fract: 10, Radians: 11,
  Degrees: 12, Sin: 13, Cos: 14, Tan: 15, Asin: 16, Acos: 17, Atan: 18, Sinh: 19, Cosh: 20, Tanh: 21, Asinh: 22,
  Acosh: 23, Atanh: 24, Atan2: 25, Pow: 26, Exp: 27, Log: 28, Exp2: 29, Log2: 30, Sqrt: 31, InverseSqrt: 32,
  Determinant: 33, MatrixInverse: 34, Modf: 35, ModfStruct: 36, FMin: 37, UMin: 38, SMin: 39, FMax: 40, UMax: 41,
  SMax: 42, FClamp: 43, UClamp: 44, SClamp: 45, FMix: 46, IMix: 47, Step: 48, SmoothStep: 49, Fma: 50, Frexp: 51,
  FrexpStruct: 52, Ldexp: 53, PackSnorm4x8: 54, PackUnorm4x8: 55, PackSnorm2x16: 56, PackUnorm2x16: 57,
  PackHalf2x16: 58, PackDouble2x32: 59, UnpackSnorm2x16: 60, UnpackUnorm2x16: 61, UnpackHalf2x16: 62,
  UnpackSnorm4x8: 63, UnpackUnorm4x8: 64, UnpackDouble2x32: 65, Length: 66, Distance: 67, Cross: 68, Normalize: 69,
  FaceForward: 70, Reflect: 71, Refract: 72, FindILsb: 73, FindSMsb: 74, FindUMsb: 75, InterpolateAtCentroid: 76,
  InterpolateAtSample: 77, InterpolateAtOffset: 78, NMin: 79, NMax: 80, NClamp: 81,
} as const;
