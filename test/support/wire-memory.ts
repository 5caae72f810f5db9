import { ServerMemory } from "../../src/base/memory/server-memory.ts";
import { WireMemory } from "../../src/server/wire/wire-memory.ts";

/** Memory of connections that never runs out. */
export function ampleWireMemory(): WireMemory {
  return new WireMemory(new ServerMemory(Number.POSITIVE_INFINITY), Number.MAX_SAFE_INTEGER, 1000);
}
