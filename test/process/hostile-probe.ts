/**
 * A thread that asks a server's `/health` every 5 ms while a statement runs, and tells the longest that one waited: on the clock, and by
 * the time that the server's main thread worked meanwhile, which other load of the machine does not lengthen.
 */
import { readFileSync } from "node:fs";

declare const self: Worker;

/** Milliseconds between two questions. */
const EVERY_MS = 5;

/** What the thread is told: the server to ask, or to stop and tell. */
export type ProbeCommand = { readonly kind: "begin"; readonly url: string; readonly pid: number } | { readonly kind: "end" };

/** The longest waits while it was asked. */
export interface ProbeResult {
  readonly wallMs: number;
  /** Work of the server's main thread within one wait. */
  readonly workMs: number;
  readonly questions: number;
}

let isOn = false;

/** Milliseconds that the main thread of a process has worked. */
function workOf(pid: number): number {
  const [nanos = "0"] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(nanos) / 1e6;
}

async function probe(url: string, pid: number): Promise<void> {
  let [wallMs, workMs, questions] = [0, 0, 0];
  isOn = true;
  while (isOn) {
    const [begun, worked] = [performance.now(), workOf(pid)];
    try {
      await (await fetch(`${url}/health`)).text();
      const work = workOf(pid) - worked;
      const wall = performance.now() - begun;
      wallMs = Math.max(wallMs, wall);
      workMs = Math.max(workMs, Math.min(work, wall));
      questions++;
    } catch {
      break; // the server is gone, which the statement's own answer tells
    }
    await Bun.sleep(EVERY_MS);
  }
  postMessage({ wallMs, workMs, questions } satisfies ProbeResult);
}

self.onmessage = ({ data }: MessageEvent<ProbeCommand>) => {
  if (data.kind === "begin")
    void probe(data.url, data.pid); // posts its result itself
  else isOn = false;
};
