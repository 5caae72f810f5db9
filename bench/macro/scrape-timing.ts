/** Times scrapes of `/metrics`, and how long the main thread of the server answers nothing else meanwhile. */
import { mainThreadCpuMillis } from "./process-meter.ts";
import { percentile } from "./statistics.ts";

const SCRAPES = 20;
const PAUSE_MS = 100;

/** Milliseconds, but for `bytes`. */
export interface ScrapeFigures {
  readonly msP50: number;
  readonly msMax: number;
  /** Processor time of the main thread. */
  readonly cpuMsP50: number;
  readonly cpuMsMax: number;
  /** The longest that another request waited, of a client that asks for nothing but `/ready`, over and over. */
  readonly otherMsMax: number;
  /** Bytes of the last answer. */
  readonly bytes: number;
}

/** Scrapes a server that rests. @throws Error when it does not answer well */
export async function timeScrapes(baseUrl: string, pid: number): Promise<ScrapeFigures> {
  const millis: number[] = [];
  const cpuMillis: number[] = [];
  let bytes = 0;
  const other = { isOver: false, msMax: 0 };
  const asking = askReady(baseUrl, other);
  for (let scrape = 0; scrape < SCRAPES; scrape++) {
    const cpuBefore = mainThreadCpuMillis(pid);
    const began = performance.now();
    bytes = await get(`${baseUrl}/metrics`);
    millis.push(performance.now() - began);
    cpuMillis.push(mainThreadCpuMillis(pid) - cpuBefore);
    await Bun.sleep(PAUSE_MS);
  }
  other.isOver = true;
  await asking;
  return {
    msP50: percentile(millis, 0.5),
    msMax: Math.max(...millis),
    cpuMsP50: percentile(cpuMillis, 0.5),
    cpuMsMax: Math.max(...cpuMillis),
    otherMsMax: other.msMax,
    bytes,
  };
}

async function askReady(baseUrl: string, other: { isOver: boolean; msMax: number }): Promise<void> {
  while (!other.isOver) {
    const began = performance.now();
    await get(`${baseUrl}/ready`);
    other.msMax = Math.max(other.msMax, performance.now() - began);
    await Bun.sleep(1);
  }
}

async function get(url: string): Promise<number> {
  const response = await fetch(url);
  const { length } = await response.bytes();
  if (!response.ok) throw new Error(`${response.status} of ${url}`);
  return length;
}
