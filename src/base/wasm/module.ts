/** A WebAssembly module of one function over an imported memory, made from its instructions. Source: as code.ts. */
import { type Code, unsigned } from "./code.ts";

/** A function of 32-bit numbers that returns one. Parameters are locals 0 and up, the further locals follow and begin as 0. */
export interface Kernel {
  readonly parameters: number;
  readonly locals: number;
  readonly body: readonly Code[];
}

/** A kernel on a memory. */
export type KernelCall = (...parameters: readonly number[]) => number;

const MAGIC_AND_VERSION: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const I32 = 0x7f;

/** Compiles a kernel. Synchronous: a kernel is a few hundred bytes. */
export function compileKernel({ parameters, locals, body }: Kernel): WebAssembly.Module {
  const type = [0x60, ...unsigned(parameters), ...new Array<number>(parameters).fill(I32), 1, I32];
  const memory = [...name("m"), ...name("m"), 2, 0, 1]; // kind 2: a memory, of at least one page
  // A body that always returns still has to leave a value behind its last statement.
  const code = [...vector(locals === 0 ? [] : [[...unsigned(locals), I32]]), ...body.flat(), 0x00, 0x0b];
  const bytes = [
    ...MAGIC_AND_VERSION,
    ...section(1, vector([type])),
    ...section(2, vector([memory])),
    ...section(3, vector([[0]])),
    ...section(7, vector([[...name("f"), 0, 0]])),
    ...section(10, vector([[...unsigned(code.length), ...code]])),
  ];
  return new WebAssembly.Module(Uint8Array.from(bytes));
}

/** Puts a compiled kernel on a memory. */
export function kernelOn(module: WebAssembly.Module, memory: WebAssembly.Memory): KernelCall {
  const { exports } = new WebAssembly.Instance(module, { m: { m: memory } });
  return exports["f"] as KernelCall; // The one export of every module made here.
}

function vector(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

function name(text: string): Code {
  return vector(Array.from(text, (letter) => [letter.charCodeAt(0)]));
}
