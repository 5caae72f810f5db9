/** A short trial of real processes. The long form is `bun run test:cluster`. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { killAllServers } from "../../bench/macro/server-process.ts";
import { diskFolder } from "../support/disk-folder.ts";
import { NATS_SERVER } from "../support/cluster/nats-server.ts";
import { checkBatches } from "./check.ts";
import { WriterModel } from "./model.ts";
import { PATIENCE } from "./patience.ts";
import { ClusterProcesses } from "./processes.ts";
import { runTrial } from "./trial.ts";

/** Set to 1 where a trial may take its minute. */
const IS_ASKED = process.env["VARVE_CLUSTER"] === "1";
const TEST_MS_MAX = 180_000;

const folder = await mkdtemp(join(diskFolder(), "varve-cluster-test-"));
afterAll(async () => {
  killAllServers();
  await rm(folder, { recursive: true });
});

test.skipIf(!IS_ASKED || NATS_SERVER === undefined)(
  "keeps every acknowledged row while frontends, data nodes and NATS die, stand still and are cut off",
  async () => {
    await using cluster = await ClusterProcesses.start({
      directory: folder,
      frontends: 2,
      datanodes: 2,
      nats: 1,
      shards: 2,
      versitygw: undefined,
    });
    const report = await runTrial(cluster, {
      seed: 20_240_229,
      rounds: 5,
      writers: 2,
      readers: 1,
      faults: ["kill", "stop", "partition"],
      fullCheckEvery: 5,
      patience: PATIENCE,
      faultMs: 6000,
      downMsMax: 1000,
      progress: () => undefined,
    });
    expect(report.violations).toEqual([]);
    expect(report.rounds.length).toBe(5);
    expect(report.figures.clear).toBeGreaterThan(0);
    // What the model does not know of is found here, too, by either frontend.
    const model = new WriterModel("spoilt");
    const request = model.next();
    model.sending(request);
    for (const door of cluster.doors) expect(await door.write(model.name, request, PATIENCE.attempt)).toEqual({ kind: "acknowledged" });
    for (const door of cluster.doors) {
      const found = checkBatches(model.floor(0), model, await door.batches(model.name, 0, PATIENCE.attempt));
      expect(found).toEqual(["spoilt: batch 0 has a row 2 times that was sent 1 times"]);
    }
  },
  TEST_MS_MAX,
);
