/**
 * Scrapes as they happen, to one server: a process of its own that posts a scrape of all hosts every interval, each host's samples when its
 * turn comes, and prints one JSON line a scrape. With `--fast` the times go on by the interval, and the requests as fast as they are taken.
 *
 *   bun bench/macro/remote-write-feeder.ts --url http://127.0.0.1:4000/v1/prometheus/write --hosts 100 --rounds 240 --interval 15
 */
import { parseArgs } from "node:util";
import { RemoteBodies, remoteHeaders } from "./remote-write-body.ts";
import { type ScrapePlan, Scrapes } from "./scrapes.ts";

/** One scrape of all hosts, sent and acknowledged. */
export interface FedScrape {
  /** Samples so far. */
  readonly samples: number;
  readonly ackMsMax: number;
  /** Requests that were refused with 429 or 5xx and sent again, as Prometheus does. */
  readonly retried: number;
}

const RETRY_MS = 200;

/** Sends `rounds` scrapes. @throws Error for an answer that says that the samples will never be taken */
async function feed(
  url: string,
  plan: ScrapePlan,
  shape: {
    readonly version: 1 | 2;
    readonly batch: number;
    readonly rounds: number;
    readonly connections: number;
    readonly isFast: boolean;
  },
): Promise<void> {
  const scrapes = new Scrapes(plan);
  const bodies = new RemoteBodies(scrapes, shape.version, shape.batch);
  const headers = remoteHeaders(shape.version);
  let samples = 0;
  for (let round = 0; round < shape.rounds; round++) {
    if (round > 0) scrapes.next();
    let next = 0;
    let ackMsMax = 0;
    let retried = 0;
    const connection = async (): Promise<void> => {
      while (next < bodies.count) {
        const request = next++;
        if (!shape.isFast) await Bun.sleep(dueMs(plan, round, request / bodies.count) - Date.now());
        const body = bodies.body(request);
        const started = performance.now();
        for (;;) {
          const response = await fetch(url, { method: "POST", headers, body });
          const answer = await response.text();
          if (response.ok) break;
          if (response.status !== 429 && response.status < 500) throw new Error(`${response.status} ${answer.slice(0, 300)}`);
          retried++;
          await Bun.sleep(RETRY_MS);
        }
        ackMsMax = Math.max(ackMsMax, performance.now() - started);
        samples += bodies.samplesOf(request);
      }
    };
    await Promise.all(Array.from({ length: shape.connections }, connection));
    process.stdout.write(`${JSON.stringify({ samples, ackMsMax, retried } satisfies FedScrape)}\n`);
  }
}

function dueMs({ startMs, intervalSeconds }: ScrapePlan, round: number, share: number): number {
  return startMs + (round + share) * intervalSeconds * 1000;
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      url: text,
      hosts: text,
      seed: text,
      interval: text,
      start: text,
      rounds: text,
      version: text,
      batch: text,
      connections: text,
      fast: { type: "boolean", default: false },
    },
  });
  if (values.url === undefined) throw new Error("cannot feed: --url is needed");
  const plan = {
    hosts: Number(values.hosts),
    seed: Number(values.seed),
    intervalSeconds: Number(values.interval),
    startMs: Number(values.start),
  };
  await feed(values.url, plan, {
    version: values.version === "2" ? 2 : 1,
    batch: Number(values.batch),
    rounds: Number(values.rounds),
    connections: Number(values.connections),
    isFast: values.fast,
  });
}
