import { machineMemoryBytes } from "../base/memory/machine-memory.ts";
import type { Settings } from "./settings.ts";

/** What bodies may take while they come in, where no limit is set: bytes, and a part of the memory limit where that is less. */
const BODIES_BYTES = 256 * 1024 * 1024;
const BODIES_PART = 1 / 4;

/** Bytes that the server may hold: what is set, else half of what the machine or its container has. */
export function memoryLimitOf(settings: Settings): number {
  const { bytesMax } = settings.memory;
  return bytesMax === 0 ? Math.floor(machineMemoryBytes() / 2) : bytesMax;
}

/** Bytes of request bodies that each of `threads` listeners may work on. */
export function bodiesLimitOf(settings: Settings, threads: number): number {
  const { inFlightBytesMax } = settings.general;
  const all = inFlightBytesMax === 0 ? Math.min(BODIES_BYTES, memoryLimitOf(settings) * BODIES_PART) : inFlightBytesMax;
  return Math.max(1, Math.floor(all / threads));
}
