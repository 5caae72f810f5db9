/** What a Varve process says that its parts hold, beside what the kernel counts for it: where the memory is. */
import { readProcess } from "./process-meter.ts";

/** One look. */
export interface MemoryLook {
  readonly rssBytes: number;
  /** Bytes by part, as `/metrics` has them. What is left of the resident memory is the runtime, its code, and garbage. */
  readonly parts: ReadonlyMap<string, number>;
}

const PART = /^varve_memory_bytes\{part="([^"]+)"\} (\S+)$/gm;

/** Looks at a process and at its metrics. @throws Error when it does not answer */
export async function lookAtMemory(pid: number, baseUrl: string): Promise<MemoryLook> {
  const response = await fetch(`${baseUrl}/metrics`);
  const parts = partsOf(await response.text());
  return { rssBytes: readProcess(pid).rssBytes, parts };
}

/** Bytes by part in the text of `/metrics`. */
export function partsOf(metrics: string): ReadonlyMap<string, number> {
  return new Map(Array.from(metrics.matchAll(PART), ([, name, bytes]) => [name ?? "", Number(bytes)]));
}

/** Bytes that no part counts; what is set aside for workers and not used makes it less. */
export function uncountedBytes({ rssBytes, parts }: MemoryLook): number {
  let bytes = rssBytes;
  for (const held of parts.values()) bytes -= held;
  return bytes;
}
