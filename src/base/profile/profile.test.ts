import { heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { systemClock } from "../clock.ts";
import { ServerMemory } from "../memory/server-memory.ts";
import { type CallNode, cpuProfile, isProfiling, profileCpu } from "./cpu-profiler.ts";
import { flameGraph } from "./flame-graph.ts";
import { profileHeap } from "./heap-profile.ts";
import { pprofMessage } from "./pprof.ts";
import type { Profile } from "./profile.ts";
import { textReport } from "./text-report.ts";

const node = (id: number, functionName: string, hitCount: number, ...children: number[]): CallNode => ({
  id,
  hitCount,
  children,
  callFrame: { functionName, url: id === 1 ? "" : "file:///src/a.ts", lineNumber: id * 10 - 1 },
});

/** (root) ─► main ─► parse (3) ─► "<x>&" (1); main itself 2; parse from elsewhere 4. */
const PROFILE: Profile = cpuProfile(
  [node(1, "(root)", 0, 2, 5), node(2, "main", 2, 3), node(3, "parse", 3, 4), node(4, "<x>&\u0001", 1), node(5, "parse", 4)],
  10_000_000,
  1_700_000_000_000_000_001n,
  5_000_000_000,
);

/** Texts and numbers of a message's fields, those inside messages too. */
function fieldsOf(bytes: Uint8Array): Map<number, (number | bigint | Uint8Array)[]> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, (number | bigint | Uint8Array)[]>();
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    const value = wire === 2 ? reader.bytes() : reader.uint64();
    found.set(field, [...(found.get(field) ?? []), typeof value === "string" ? BigInt(value) : value]);
  }
  return found;
}

test("a tree of calls is stacks, the innermost first", () => {
  const names = PROFILE.stacks.map(({ frames, values }) => [frames.map((at) => PROFILE.frames[at]?.name).join(" < "), ...values]);
  expect(names).toEqual([
    ["main", 2, 20_000_000],
    ["parse < main", 3, 30_000_000],
    ["<x>&\u0001 < parse < main", 1, 10_000_000],
    ["parse", 4, 40_000_000],
  ]);
});

test("pprof's message holds all of it", () => {
  const fields = fieldsOf(pprofMessage(PROFILE));
  const strings = (fields.get(6) ?? []).map((each) => new TextDecoder().decode(each as Uint8Array));
  expect(strings.slice(0, 5)).toEqual(["", "samples", "count", "cpu", "nanoseconds"]);
  expect([fields.get(2)?.length, fields.get(4)?.length, fields.get(5)?.length]).toEqual([4, 4, 4]);
  expect([fields.get(9), fields.get(10), fields.get(12)]).toEqual([[1_700_000_000_000_000_001n], [5_000_000_000n], [10_000_000n]]);
});

test.skipIf(process.env["VARVE_PPROF"] !== "1")(
  "go tool pprof reads profiles of time and of memory",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "varve-pprof-"));
    const top = async (profile: Profile, ...flags: readonly string[]): Promise<string> => {
      const file = join(folder, "profile.pb");
      await Bun.write(file, pprofMessage(profile));
      const child = Bun.spawn(["go", "tool", "pprof", "-top", ...flags, file], { stdout: "pipe", stderr: "pipe" });
      const [text, failure] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      return (await child.exited) === 0 ? text : failure;
    };
    try {
      const time = await top(PROFILE);
      expect(time).toContain("Type: cpu");
      expect(time).toContain("Duration: 5s, Total samples = 100ms");
      expect(time).toMatch(/70ms 70\.00% .* 80ms 80\.00% +parse/);
      const memory = await top(profileHeap(new ServerMemory(1), systemClock, false));
      expect(memory).toContain("Type: inuse_space");
      expect(memory).toMatch(/ process$/m);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  180_000, // go builds its tool first
);

test("a table, the most first", () => {
  const lines = textReport(PROFILE).split("\n");
  expect(lines[0]).toBe("CPU of the main thread: cpu in nanoseconds, over 5.0 s, 100000000 in all");
  expect(lines[2]?.trim().split(/\s+/)).toEqual(["40000000", "40.0%", "40000000", "40.0%", "4", "parse", "/src/a.ts:50"]);
});

describe("a flame graph", () => {
  test("is well-formed, whatever functions are called", () => {
    const svg = flameGraph(PROFILE);
    expect(svg).toContain("&lt;x&gt;&amp;\ufffd /src/a.ts:40: 10000000 nanoseconds (10.00 %)");
    expect(svg.match(/<g>/g)?.length).toBe(5); // all, main, parse, <x>, parse
    expect(svg).not.toMatch(/<x>/);
  });

  test("of deep recursion and of nothing is small", () => {
    const deep = Array.from({ length: 20_000 }, (_, i) => node(i + 1, `f${i}`, i === 19_999 ? 1 : 0, ...(i < 19_999 ? [i + 2] : [])));
    expect(flameGraph(cpuProfile(deep, 1, 0n, 1)).length).toBeLessThan(100_000);
    expect(flameGraph(cpuProfile([], 1, 0n, 1))).toContain("<title>all: 0 nanoseconds</title>");
    expect(textReport(cpuProfile([], 1, 0n, 1))).toContain("0 in all");
  });
});

/** Keeps the thread busy. */
function spendTime(millis: number): number {
  let sum = 0;
  for (const until = systemClock.monotonicMillis() + millis; systemClock.monotonicMillis() < until; ) {
    for (let i = 0; i < 10_000; i++) sum += Math.sqrt(i);
  }
  return sum;
}

test("this thread is sampled, one profile at a time, and a second one after it", async () => {
  for (const _ of [1, 2]) {
    const taking = profileCpu({ seconds: 0.3, frequency: 1000, signal: new AbortController().signal }, systemClock);
    expect(isProfiling()).toBe(true);
    const second = profileCpu({ seconds: 1, frequency: 10, signal: new AbortController().signal }, systemClock);
    expect(await second.catch((error: unknown) => String(error))).toContain("another one is being taken");
    while (isProfiling()) {
      spendTime(5);
      await Bun.sleep(1);
    }
    const profile = await taking;
    expect(profile.frames.some(({ name, file }) => name === "spendTime" && file.endsWith("profile.test.ts"))).toBe(true);
  }
});

test("a profile ends with who asked for it", async () => {
  const leaving = new AbortController();
  const taking = profileCpu({ seconds: 60, frequency: 99, signal: leaving.signal }, systemClock);
  leaving.abort();
  expect((await taking).durationNanos).toBeLessThan(10e9);
});

test("memory by type has counts at once, and bytes when they are asked for", () => {
  const kept = Array.from({ length: 5000 }, () => new Set([1]));
  const memory = new ServerMemory(1);
  memory.register("page_cache", { bytes: () => 12_345 });
  const find = (profile: Profile, name: string): readonly number[] | undefined => {
    return profile.stacks.find(({ frames }) => profile.frames[frames[0] ?? -1]?.name === name)?.values;
  };
  const counts = profileHeap(memory, systemClock, false);
  expect(find(counts, "Set")?.[0]).toBeGreaterThanOrEqual(5000);
  expect(find(counts, "Set")?.[1]).toBe(0);
  expect(find(counts, "page_cache")).toEqual([0, 12_345]);
  // The heap of a process that runs all tests may be too large for a snapshot.
  if (heapStats().objectCount > 400_000) expect(kept.length).toBe(5000);
  else expect(find(profileHeap(memory, systemClock, true), "Set")?.[1]).toBeGreaterThan(5000 * 16);
  expect(kept.length).toBe(5000);
});
