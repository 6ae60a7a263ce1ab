/**
 * The sections of a module under construction, in the order SPIR-V prescribes, and the id counter they share.
 *
 * Types, constants, names and functions are discovered in any order while a kernel is written; each goes straight to its
 * section, and `assemble` lays the sections end to end. No instruction is kept as an object.
 */
import { ArgumentError } from "../../core/errors.js";
import { AddressingModel, Capability, HEADER_WORDS, MAGIC, MemoryModel, Op, SourceLanguage } from "../enumerants.js";
import { WordStream } from "../word-stream.js";
import { declarationCapabilities, extensionFor, type Version } from "./capabilities.js";

const GLSL = "GLSL.std.450";
/** Characters of source text per instruction: at four bytes each they stay below the limit of 65535 words. */
const SOURCE_PIECE = 50_000;

export class Sections {
  readonly executionModes = new WordStream();
  readonly strings = new WordStream();
  readonly names = new WordStream();
  readonly annotations = new WordStream();
  /** Types, constants and global variables: one section, because they refer to each other. */
  readonly globals = new WordStream();
  readonly functions = new WordStream();

  usesVulkanMemoryModel: boolean;
  /** Narrow number types declared so far: a mask of the CONTAINS bits. */
  narrowTypes = 0;

  private readonly capabilities = new Set<number>([Capability.Shader]);
  private readonly extensions = new Set<string>();
  private glslId = 0;
  private bound = 1;

  constructor(
    readonly version: Version,
    private readonly keepsNames: boolean,
    vulkanMemoryModel: boolean,
  ) {
    this.usesVulkanMemoryModel = vulkanMemoryModel;
    if (vulkanMemoryModel) this.require(Capability.VulkanMemoryModel);
  }

  newId(): number {
    return this.bound++;
  }

  atLeast(minor: number): boolean {
    return this.version[1] >= minor;
  }

  /** Declares a capability, and the extension it comes from where the version does not include it. */
  require(capability: number): void {
    if (this.capabilities.has(capability)) return;
    this.capabilities.add(capability);
    const extension = extensionFor(capability, this.version[1]);
    if (extension) this.extensions.add(extension);
  }

  requireAll(capabilities: readonly number[]): void {
    for (const capability of capabilities) this.require(capability);
  }

  requireExtension(extension: string): void {
    this.extensions.add(extension);
  }

  /** Id of the GLSL.std.450 import, made when first asked for. */
  glsl(): number {
    if (this.glslId === 0) this.glslId = this.newId();
    return this.glslId;
  }

  name(id: number, text: string | undefined): void {
    if (!this.keepsNames || !text) return;
    const mark = this.names.open(Op.Name);
    this.names.push(id);
    this.names.string(text);
    this.names.close(mark);
  }

  memberName(structId: number, member: number, text: string): void {
    if (!this.keepsNames || !text) return;
    const mark = this.names.open(Op.MemberName);
    this.names.push(structId);
    this.names.push(member);
    this.names.string(text);
    this.names.close(mark);
  }

  decorate(id: number, decoration: number): void {
    this.annotations.op2(Op.Decorate, id, decoration);
  }

  decorateWith(id: number, decoration: number, operand: number): void {
    this.annotations.op3(Op.Decorate, id, decoration, operand);
  }

  decorateMember(structId: number, member: number, decoration: number): void {
    this.annotations.op3(Op.MemberDecorate, structId, member, decoration);
  }

  decorateMemberWith(structId: number, member: number, decoration: number, operand: number): void {
    this.annotations.op4(Op.MemberDecorate, structId, member, decoration, operand);
  }

  /** Keeps the text a kernel came from in the module; returns the id of its file name, for line marks. */
  source(file: string, text: string): number {
    const id = this.newId();
    let mark = this.strings.open(Op.String);
    this.strings.push(id);
    this.strings.string(file);
    this.strings.close(mark);
    const pieces = text.match(new RegExp(`[^]{1,${SOURCE_PIECE}}`, "gu")) ?? [""];
    pieces.forEach((piece, i) => {
      mark = this.strings.open(i === 0 ? Op.Source : Op.SourceContinued);
      if (i === 0) {
        this.strings.push(SourceLanguage.Unknown);
        this.strings.push(0);
        this.strings.push(id);
      }
      this.strings.string(piece);
      this.strings.close(mark);
    });
    return id;
  }

  /** The finished module. Entry points are passed in because their interface is known only when all functions are. */
  assemble(entryPoints: WordStream): Uint32Array {
    this.requireAll(declarationCapabilities(this.narrowTypes, this.capabilities));
    const head = new WordStream();
    for (const capability of [...this.capabilities].sort((a, b) => a - b)) head.op1(Op.Capability, capability);
    for (const extension of [...this.extensions].sort()) {
      const mark = head.open(Op.Extension);
      head.string(extension);
      head.close(mark);
    }
    if (this.glslId !== 0) {
      const mark = head.open(Op.ExtInstImport);
      head.push(this.glslId);
      head.string(GLSL);
      head.close(mark);
    }
    const physical = this.capabilities.has(Capability.PhysicalStorageBufferAddresses);
    head.op2(
      Op.MemoryModel,
      physical ? AddressingModel.PhysicalStorageBuffer64 : AddressingModel.Logical,
      this.usesVulkanMemoryModel ? MemoryModel.Vulkan : MemoryModel.GLSL450,
    );
    const sections = [
      head,
      entryPoints,
      this.executionModes,
      this.strings,
      this.names,
      this.annotations,
      this.globals,
      this.functions,
    ];
    const total = sections.reduce((sum, s) => sum + s.length, HEADER_WORDS);
    if (this.bound > 0x3fffff) {
      throw new ArgumentError(`the module uses ${this.bound} ids; SPIR-V guarantees 4194303. Split the kernel.`);
    }
    const words = new Uint32Array(total);
    words.set([MAGIC, (this.version[0] << 16) | (this.version[1] << 8), 0, this.bound, 0]);
    let at = HEADER_WORDS;
    for (const section of sections) {
      words.set(section.view(), at);
      at += section.length;
    }
    return words;
  }
}
