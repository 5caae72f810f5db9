/** Many random lives on disks that lose power. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { WalSync } from "../../../src/storage/wal/wal.ts";
import { livePower, type PowerReport } from "./power-life.ts";

/** How to run a campaign. */
export interface PowerCampaignOptions {
  readonly directory: string;
  readonly seed: number;
  readonly lives: number;
  /** Numbers of ingest threads: each life has one of them. */
  readonly threads: readonly number[];
  readonly progress: (text: string) => void;
}

/** What a campaign came across. */
export interface PowerCampaignReport extends PowerReport {
  /** At most one: the campaign ends with the life that broke a promise. Empty is good. */
  readonly violations: readonly string[];
}

const DEATHS_A_LIFE = 12;
const LIVES_A_LINE = 100;
/** Of ten lives two sync the log from time to time only, and one never. */
const SYNCS: readonly WalSync[] = [...new Array<WalSync>(7).fill("always"), "interval", "interval", "never"];

/** Runs a campaign; life `n` has the seed `seed + n`. */
export async function runPowerCampaign({ directory, seed, lives, threads, progress }: PowerCampaignOptions): Promise<PowerCampaignReport> {
  const total = { deaths: 0, deathsInStart: 0, powerLosses: 0, acknowledged: 0, unansweredFound: 0, unansweredGone: 0 };
  for (let life = 0; life < lives; life++) {
    const folder = join(directory, `life-${seed + life}`);
    const sync = SYNCS[life % SYNCS.length]!;
    try {
      const report = await livePower(seed + life, DEATHS_A_LIFE, folder, { sync, threads });
      for (const key of Object.keys(total) as (keyof PowerReport)[]) total[key] += report[key];
    } catch (error) {
      return { ...total, violations: [error instanceof Error ? error.message : String(error)] };
    }
    await rm(folder, { recursive: true, force: true });
    if ((life + 1) % LIVES_A_LINE === 0) progress(`${life + 1} lives, ${total.deaths} deaths`);
  }
  return { ...total, violations: [] };
}
