/** Remote-write bodies in a file, so that the load generator only has to send slices of it, and every server gets the same bytes. */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { RemoteBodies, type RemoteVersion } from "./remote-write-body.ts";
import { METRICS_PER_HOST, type ScrapePlan, Scrapes, type SeriesRounds } from "./scrapes.ts";

/** Bodies one after another in `path`; where they start is in `path` + ".index", as 64-bit numbers, one more than bodies. */
export interface RemoteFile {
  readonly path: string;
  readonly version: RemoteVersion;
  readonly samples: number;
  readonly requests: number;
  /** Requests and samples of the first scrape, in which all series are new. */
  readonly firstRequests: number;
  readonly firstSamples: number;
  readonly bytes: number;
  /** Seconds since 1970 after the last sample. */
  readonly endSeconds: number;
}

/** Writes as many whole scrapes as hold `samples` samples, at least two. */
export function writeRemoteFile(
  plan: ScrapePlan,
  version: RemoteVersion,
  samples: number,
  samplesPerRequest: number,
  path: string,
): RemoteFile {
  const rounds = Math.max(2, Math.round(samples / (plan.hosts * METRICS_PER_HOST)));
  const endMs = plan.startMs + rounds * plan.intervalSeconds * 1000;
  return { ...writeRounds(new Scrapes(plan), rounds, version, samplesPerRequest, path), endSeconds: Math.ceil(endMs / 1000) };
}

/** Writes rounds, the current one first. */
export function writeRounds(
  series: SeriesRounds,
  rounds: number,
  version: RemoteVersion,
  samplesPerRequest: number,
  path: string,
): Omit<RemoteFile, "endSeconds"> {
  const bodies = new RemoteBodies(series, version, samplesPerRequest);
  const offsets = new Float64Array(rounds * bodies.count + 1);
  const file = openSync(path, "w");
  let at = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      if (round > 0) series.next();
      for (let request = 0; request < bodies.count; request++) {
        const body = bodies.body(request);
        for (let done = 0; done < body.length; ) done += writeSync(file, body, done);
        at += body.length;
        offsets[round * bodies.count + request + 1] = at;
      }
    }
    fdatasyncSync(file); // Otherwise the kernel writes it back while a server under test syncs its log.
  } finally {
    closeSync(file);
  }
  const index = openSync(`${path}.index`, "w");
  writeSync(index, new Uint8Array(offsets.buffer));
  closeSync(index);
  return {
    path,
    version,
    samples: rounds * series.values.length,
    requests: rounds * bodies.count,
    firstRequests: bodies.count,
    firstSamples: series.values.length,
    bytes: at,
  };
}
