/** The backup of a cluster as a demo's: its server of NATS runs meanwhile. */
import { join } from "node:path";
import { systemClock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/log.ts";
import { openNewNatsCluster } from "../../../cluster/nats/new-nats-cluster.ts";
import { localFileStore } from "../../../storage/file-store/local-file-store.ts";
import { withDemoNats } from "../../cluster/demo/demo-alone.ts";
import type { ToolIo } from "../../tool.ts";
import type { ClusterManifest } from "../manifest.ts";
import type { BackupTarget } from "../target.ts";
import { someShardFolder } from "./open-cluster.ts";
import { restoreCluster } from "./restore-cluster.ts";

/** @param folder what `varve cluster demo` is given as `--data-home` @throws Error: nothing is restored */
export async function restoreDemo(target: BackupTarget, manifest: ClusterManifest, folder: string, io: ToolIo): Promise<void> {
  await withDemoNats(folder, io, async (options, store) => {
    const cluster = await openNewNatsCluster(options, { logger: silentLogger, clock: systemClock });
    try {
      const place = {
        cluster,
        shards: options.shards,
        files: localFileStore(store),
        filesText: join(folder, "store"),
        someFile: async () => someShardFolder(store),
        sleep: (millis: number) => Bun.sleep(millis),
      };
      await restoreCluster(target, manifest, place, io);
    } finally {
      await cluster.close();
    }
  });
}
