/**
 * Profiles of other threads. Each is asked by a message with a port of its own, on which it answers when the time is up, or when it is told
 * to end early: its profiler is the runtime's own of that thread, and several run at once (Bun 1.4.5, tried with three threads).
 *
 *   asker ── { kind: "profile", seconds, frequency, port } ──► thread: profileCpu ── Profile ──► port ──► asker: one profile of all
 *                                    port ◄── "end" early
 */
import type { Clock } from "../clock.ts";
import { errorText } from "../error.ts";
import { type ProfileAsk, profileCpu } from "./cpu-profiler.ts";
import { Frames, type Profile, type Stack } from "./profile.ts";

/** Longest wait for a thread beyond the time of its profile, milliseconds: one that works on something long answers after it. */
const LATE_MILLIS = 5000;

/** What a thread is asked by. */
export interface ProfileMessage {
  readonly kind: "profile";
  readonly seconds: number;
  readonly frequency: number;
  readonly port: MessagePort;
}

type FromThread = { readonly profile: Profile } | { readonly failed: string };

/** A thread's profile, or why there is none. */
export interface ThreadProfile {
  readonly thread: string;
  readonly profile: Profile | { readonly failed: string };
}

/** Answers a message. Never rejects. */
export async function answerProfile({ seconds, frequency, port }: ProfileMessage, clock: Clock): Promise<void> {
  const ended = new AbortController();
  port.onmessage = () => ended.abort();
  let answer: FromThread;
  try {
    answer = { profile: await profileCpu({ seconds, frequency, signal: ended.signal }, clock) };
  } catch (error) {
    answer = { failed: errorText(error) };
  }
  port.postMessage(answer);
  port.close();
}

/** Threads that can be asked, by name. */
export class ProfiledThreads {
  private readonly workers: Map<string, Worker> = new Map();

  /** A thread runs whose program answers `ProfileMessage`; it is known until it ends. */
  add(name: string, worker: Worker): void {
    this.workers.set(name, worker);
    worker.addEventListener("close", () => {
      if (this.workers.get(name) === worker) this.workers.delete(name);
    });
  }

  /** Asks all of them at once; resolves when each has answered, or is late. */
  profiles(ask: ProfileAsk): Promise<readonly ThreadProfile[]> {
    return Promise.all(
      [...this.workers].map(async ([thread, worker]): Promise<ThreadProfile> => ({ thread, profile: await profileOf(worker, ask) })),
    );
  }
}

async function profileOf(worker: Worker, { seconds, frequency, signal }: ProfileAsk): Promise<ThreadProfile["profile"]> {
  const { port1, port2 } = new MessageChannel();
  const { promise, resolve } = Promise.withResolvers<FromThread>();
  const message: ProfileMessage = { kind: "profile", seconds, frequency, port: port2 };
  const end = (): void => port1.postMessage("end");
  const timer = setTimeout(() => resolve({ failed: "it does not answer" }), seconds * 1000 + LATE_MILLIS);
  port1.onmessage = ({ data }) => resolve(data as FromThread); // what `answerProfile` posts
  signal.addEventListener("abort", end);
  worker.postMessage(message, [port2]);
  if (signal.aborted) end();
  const answer = await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", end);
  port1.close();
  return "profile" in answer ? answer.profile : answer;
}

/** Profiles of this thread and of others as one: the outermost frame of a stack is its thread; the title names those that are missing. */
export function ofAllThreads(main: Profile, others: readonly ThreadProfile[]): Profile {
  if (others.length === 0) return main;
  const frames = new Frames();
  const stacks: Stack[] = [];
  const missing: string[] = [];
  for (const { thread, profile } of [{ thread: "main", profile: main }, ...others]) {
    if ("failed" in profile) {
      missing.push(`${thread} (${profile.failed})`);
      continue;
    }
    const positions = profile.frames.map((frame) => frames.add(frame));
    const root = frames.add({ name: `thread ${thread}`, file: "", line: 0 });
    for (const { frames: own, values } of profile.stacks)
      stacks.push({ frames: [...own.map((at) => positions[at] as number), root], values });
  }
  const left = missing.length === 0 ? "" : `; without ${missing.join(", ")}`;
  return { ...main, title: `CPU of all threads but those of flushes, merges and long calls${left}`, frames: frames.list, stacks };
}
