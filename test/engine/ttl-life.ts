/**
 * How long rows live in a random life: what tables and their database say, and what time it is.
 */
import type { Random } from "../../bench/macro/random.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../src/column/data-type.ts";
import type { MovingClock } from "../support/moving-clock.ts";
import { pick } from "./random-table.ts";

const NANOS_PER_DAY = 86_400n * 1_000_000_000n;
const INT64_MIN = -(2n ** 63n);

/** Texts of the option and their days. */
const TTLS: ReadonlyMap<string, bigint | "instant" | undefined> = new Map<string, bigint | "instant" | undefined>([
  ["forever", undefined],
  ["instant", "instant"],
  ["5days", 5n],
  ["20days", 20n],
  ["35days", 35n],
  ["1000days", 1000n],
  ["400000days", 400_000n],
]);

/** What happens to ttls next. */
export type TtlChange =
  | { readonly kind: "table"; readonly ttl: string | undefined }
  | { readonly kind: "database"; readonly ttl: string | undefined }
  | { readonly kind: "clock"; readonly days: number };

/** See the file header. */
export class TtlLife {
  private readonly random: Random;
  private readonly clock: MovingClock;
  private databaseTtl: string | undefined;

  constructor(random: Random, clock: MovingClock) {
    this.random = random;
    this.clock = clock;
  }

  /** Chooses a change. Time passes here; options are the caller's to set. */
  next(): TtlChange {
    const { random } = this;
    const ttls = [undefined, undefined, ...TTLS.keys()];
    const dice = random.below(4);
    if (dice === 0) {
      const days = random.below(30);
      this.clock.nanos += BigInt(days) * NANOS_PER_DAY + BigInt(random.below(1_000_000));
      return { kind: "clock", days };
    }
    if (dice > 1) return { kind: "table", ttl: pick(random, ttls) };
    this.databaseTtl = pick(
      random,
      ttls.filter((ttl) => ttl !== "instant"),
    );
    return { kind: "database", ttl: this.databaseTtl };
  }

  /** The first time that has not expired, for a table with this option; undefined: none ever does. */
  livingFrom(option: string | undefined, unit: TimeUnit): bigint | undefined {
    const days = TTLS.get(option ?? this.databaseTtl ?? "forever");
    if (days === undefined) return undefined;
    if (days === "instant") return 2n ** 63n;
    const unitNanos = BigInt(UNITS_PER_SECOND.nanosecond / UNITS_PER_SECOND[unit]);
    let time = (this.clock.nanos - days * NANOS_PER_DAY) / unitNanos;
    while (time * unitNanos < this.clock.nanos - days * NANOS_PER_DAY) time++;
    return time < INT64_MIN ? undefined : time;
  }
}
