/**
 * Where this thread's time goes, by samples of its stack. The runtime's own sampling profiler is used, by its inspector's protocol, which
 * needs no flag at the start (Bun 1.4.5). While none runs nothing is switched on: the same work took 1.01 s before, 1.05 s after (CPU).
 * Time in which the thread waits is not sampled, nor are other threads, which are asked for theirs (thread-profiles.ts).
 */
import { Session, type Profiler } from "node:inspector";
import { DbError } from "../error.ts";
import { StatusCode } from "../status-code.ts";
import type { Clock } from "../clock.ts";
import { Frames, type Profile, type Stack } from "./profile.ts";

/** Longest profile, in seconds. Reason: whoever asked waits for it. Error: of the caller. */
export const PROFILE_SECONDS_MAX = 300;
/** Most samples a second. Reason: each stops the thread for some ten microseconds. Error: of the caller. */
export const PROFILE_FREQUENCY_MAX = 10_000;
/** Most samples of a profile. Reason: the runtime holds them all, and puts them together at once. Error: of the caller. */
export const PROFILE_SAMPLES_MAX = 100_000;

/** How a profile is taken. */
export interface ProfileAsk {
  readonly seconds: number;
  readonly frequency: number;
  /** Ends it early: what was met until then is the profile. */
  readonly signal: AbortSignal;
}

let isRunning = false;

/** Whether a profile is being taken. There is one at a time: the runtime has one profiler a thread. */
export function isProfiling(): boolean {
  return isRunning;
}

/** Takes a profile. None may be running. @throws DbError Unexpected when the runtime fails */
export async function profileCpu({ seconds, frequency, signal }: ProfileAsk, clock: Clock): Promise<Profile> {
  if (isRunning) throw new DbError(StatusCode.IllegalState, "cannot take a profile: another one is being taken");
  isRunning = true;
  const session = new Session();
  const intervalMicros = Math.max(1, Math.round(1_000_000 / frequency));
  try {
    session.connect();
    const ask = (method: string, params: object = {}): Promise<object> => asked(session, method, params);
    await ask("Profiler.enable");
    await ask("Profiler.setSamplingInterval", { interval: intervalMicros });
    const startNanos = clock.nowNanos();
    const startedMillis = clock.monotonicMillis();
    await ask("Profiler.start");
    await waited(seconds * 1000, signal);
    const { profile } = (await ask("Profiler.stop")) as Profiler.StopReturnType; // the protocol's answer to it
    const durationNanos = Math.round((clock.monotonicMillis() - startedMillis) * 1e6);
    return cpuProfile(profile.nodes, intervalMicros * 1000, startNanos, durationNanos);
  } finally {
    session.disconnect();
    isRunning = false;
  }
}

function asked(session: Session, method: string, params: object): Promise<object> {
  const { promise, resolve, reject } = Promise.withResolvers<object>();
  session.post(method, params, (error: Error | null, answer?: object) => {
    if (error === null) resolve(answer ?? {});
    else reject(new DbError(StatusCode.Unexpected, `cannot take a profile: ${method}: ${error.message}`, { cause: error }));
  });
  return promise;
}

async function waited(millis: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const end = (): void => resolve(undefined);
  const timer = setTimeout(end, millis);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", end);
}

/** What is read of a node of the runtime's profile: a tree of calls, each with the samples in which it was the innermost. */
export type CallNode = Pick<Profiler.ProfileNode, "id" | "hitCount" | "children"> & {
  readonly callFrame: Pick<Profiler.ProfileNode["callFrame"], "functionName" | "url" | "lineNumber">;
};

/** The tree of calls as stacks. */
export function cpuProfile(nodes: readonly CallNode[], sampleNanos: number, startNanos: bigint, durationNanos: number): Profile {
  const parents = new Map<number, number>();
  const byId = new Map<number, CallNode>(nodes.map((node) => [node.id, node]));
  for (const { id, children } of nodes) for (const child of children ?? []) parents.set(child, id);
  const frames = new Frames();
  const stacks: Stack[] = [];
  for (const { id, hitCount = 0 } of nodes) {
    if (hitCount === 0) continue;
    const found: number[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at);
      if (node === undefined || !parents.has(at)) break; // the root is no function
      const { functionName, url, lineNumber } = node.callFrame;
      const file = url.startsWith("file://") ? url.slice("file://".length) : url;
      found.push(frames.add({ name: functionName === "" ? "(anonymous)" : functionName, file, line: lineNumber + 1 }));
    }
    stacks.push({ frames: found, values: [hitCount, hitCount * sampleNanos] });
  }
  return {
    title: "CPU of the main thread",
    types: [
      { type: "samples", unit: "count" },
      { type: "cpu", unit: "nanoseconds" },
    ],
    shown: 1,
    frames: frames.list,
    stacks,
    startNanos,
    durationNanos,
    period: { type: "cpu", unit: "nanoseconds", value: sampleNanos },
  };
}
