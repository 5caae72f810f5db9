import { type WalFixture, walContract } from "../../../test/contract/wal-contract.ts";
import { type MemoryWal, memoryWal } from "./memory-wal.ts";

function fixtureOf(wal: MemoryWal): WalFixture {
  return {
    wal,
    hold: () => wal.hold(),
    release: () => wal.release(),
    failNextWrite: (why) => wal.failNextWrite(why),
    failNextSync: (why) => wal.failNextSync(why),
    heal: async () => wal.heal(),
    crash: async () => fixtureOf(wal.crash()),
    dispose: () => wal.close(),
  };
}

walContract("memoryWal", async (segmentBytes) => fixtureOf(memoryWal(segmentBytes)));
