/**
 * What the process holds, by who or what holds it: objects of the main thread's heap by type, the server's own count by part, and the rest.
 *
 * The runtime counts objects by type fast, 80 ns an object, while nothing else runs. Their bytes it tells only in a snapshot of the whole
 * heap: 6.6 µs an object, 12 s for 1.8 million (Bun 1.4.5); so there are bytes only after whoever asks has said so (`activate`), not of a
 * heap that is too large for it.
 */
import { heapStats } from "bun:jsc";
import { DbError } from "../error.ts";
import { StatusCode } from "../status-code.ts";
import type { Clock } from "../clock.ts";
import { MEMORY_PARTS, type ServerMemory } from "../memory/server-memory.ts";
import { Frames, type Profile, type Stack } from "./profile.ts";

/** Most objects of a heap of which a snapshot is taken. Reason: 3 s in which nothing else runs. Error: RuntimeResourcesExhausted. */
const SNAPSHOT_OBJECTS_MAX = 500_000;

/** Objects and bytes of one type. */
interface TypeCount {
  objects: number;
  bytes: number;
}

/**
 * The profile of now.
 *
 * @param hasBytes whether a snapshot of the heap is taken, which tells bytes by type
 * @throws DbError RuntimeResourcesExhausted when the heap is too large for that
 */
export function profileHeap(memory: ServerMemory, clock: Clock, hasBytes: boolean): Profile {
  const frames = new Frames();
  const stacks: Stack[] = [];
  const add = (names: readonly string[], objects: number, bytes: number): void => {
    const found = names.map((name) => frames.add({ name, file: "", line: 0 })).reverse();
    stacks.push({ frames: found, values: [objects, bytes] });
  };
  const statistics = heapStats();
  for (const [type, { objects, bytes }] of hasBytes ? bytesByType(statistics.objectCount) : countsByType(statistics.objectTypeCounts))
    add(["JavaScript heap", type], objects, bytes);
  if (!hasBytes) add(["JavaScript heap", "(bytes of all types)"], 0, statistics.heapSize);
  for (const part of MEMORY_PARTS) add(["counted by the server", part], 0, memory.bytesOf(part));
  const { rss, arrayBuffers } = process.memoryUsage();
  const rest = rss - statistics.heapCapacity - arrayBuffers;
  add(["process", "array buffers of the main thread"], 0, arrayBuffers);
  add(["process", "all else: other threads, the runtime, free pages"], 0, Math.max(0, rest));
  return {
    title: hasBytes ? "Memory by type" : "Memory by type; objects of types without their bytes, which are told once activated",
    types: [
      { type: "inuse_objects", unit: "count" },
      { type: "inuse_space", unit: "bytes" },
    ],
    shown: 1,
    frames: frames.list,
    stacks: stacks.filter(({ values }) => values.some((value) => value > 0)),
    startNanos: clock.nowNanos(),
    durationNanos: 0,
    period: undefined,
  };
}

function* countsByType(counts: Readonly<Record<string, number>>): Generator<readonly [string, TypeCount]> {
  for (const [type, objects] of Object.entries(counts)) yield [type, { objects, bytes: 0 }];
}

/** Fields of a node of the runtime's snapshot: number, bytes, type, flags. */
const NODE_FIELDS = 4;

/** @throws DbError RuntimeResourcesExhausted */
function bytesByType(objectCount: number): ReadonlyMap<string, TypeCount> {
  if (objectCount > SNAPSHOT_OBJECTS_MAX) {
    const why = `the heap has ${objectCount} objects, and the server would stand still for ${Math.ceil((objectCount * 6.6) / 1e6)} s`;
    const advice = `deactivate the heap profile to get counts alone (at most ${SNAPSHOT_OBJECTS_MAX} have a snapshot)`;
    throw new DbError(StatusCode.RuntimeResourcesExhausted, `cannot take a snapshot: ${why}; ${advice}`);
  }
  const { nodes, nodeClassNames } = Bun.generateHeapSnapshot();
  const found = new Map<string, TypeCount>();
  for (let at = 0; at + NODE_FIELDS <= nodes.length; at += NODE_FIELDS) {
    const type = nodeClassNames[nodes[at + 2] ?? -1] ?? "(unknown)";
    let count = found.get(type);
    if (count === undefined) found.set(type, (count = { objects: 0, bytes: 0 }));
    count.objects++;
    count.bytes += nodes[at + 1] ?? 0;
  }
  return found;
}
