/**
 * The series of a region and their numbers. A renewal gives the series that rows still have new numbers, in a registry of its own; whoever
 * holds an earlier registry goes on with its numbers, which are carried over.
 */
import { assert } from "../../base/assert.ts";
import type { Chunk } from "../memtable/chunk.ts";
import { type Memtable, renumberedChunk } from "../memtable/memtable.ts";
import type { MemtableView } from "../memtable/pick-rows.ts";
import { RowPostings } from "../memtable/row-postings.ts";
import { SeriesCarrier } from "../series/series-carrier.ts";
import { SeriesRegistry, type SeriesRoom } from "../series/series-registry.ts";

/** Rows that are looked at before others of the thread get a turn. */
const RENEWAL_STEP_ROWS = 16_384;

/** A new registry that has the series of all rows in memory. */
export interface SeriesRenewal {
  /** The number that a series of the registry of now has in the new one. */
  readonly numberOf: (series: number) => number;
  /** Puts the new registry in force; must not end halfway. */
  readonly commit: () => void;
}

/** See the file header. Invariant: `now` is the registry whose numbers rows in memory have. */
export class SeriesNumbers {
  private current: SeriesRegistry;
  /** Earlier ones, for as long as somebody has their numbers. */
  private former: WeakRef<SeriesRegistry>[] = [];
  /** From earlier ones to that of now. */
  private carriers: WeakMap<SeriesRegistry, SeriesCarrier> = new WeakMap();
  /** Whether rows went since the registry was new: without that none of its series can be dead. */
  hasLostRows = false;

  constructor(table: string, room: SeriesRoom | undefined) {
    this.current = new SeriesRegistry(table, undefined, room);
  }

  /** The registry whose numbers rows in memory have. */
  get now(): SeriesRegistry {
    return this.current;
  }

  /** Takes the tags of a new version of the schema. */
  setColumns(tags: Parameters<SeriesRegistry["setColumns"]>[0]): void {
    this.current.setColumns(tags);
    for (const each of this.former) each.deref()?.setColumns(tags); // So that positions and numbers go on to agree.
  }

  /** The number now of a series of an earlier registry, or of this one. */
  numberOf(series: number, registry: SeriesRegistry): number {
    return registry === this.current ? series : this.carrierFrom(registry).numberOf(series);
  }

  /** A chunk of an earlier registry, or of this one, under the numbers of now. */
  ofNow(chunk: Chunk, registry: SeriesRegistry): Chunk {
    if (registry === this.current) return chunk;
    const carrier = this.carrierFrom(registry);
    return renumberedChunk(chunk, (series) => carrier.numberOf(series));
  }

  /** A memtable's rows under the numbers of an earlier registry, or of this one. */
  viewFor(view: MemtableView, registry: SeriesRegistry): MemtableView {
    if (registry === this.current) return view;
    const carrier = new SeriesCarrier(this.current, registry);
    const chunks = view.chunks.map((chunk) => renumberedChunk(chunk, (series) => carrier.numberOf(series)));
    return { ...view, chunks, postings: new RowPostings() };
  }

  /** Whether a new registry may be smaller: rows have gone, and at least half of the series came since the registry was new. */
  mayRenew(seriesMin: number): boolean {
    const { writtenCount, count } = this.current;
    return this.hasLostRows && writtenCount >= seriesMin && writtenCount * 2 >= count;
  }

  /** Carries the series of rows in memory over to a new registry, in turns, with writes between. One renewal at a time. */
  async renew(memtables: readonly Memtable[], turn: () => Promise<void>): Promise<SeriesRenewal> {
    const from = this.current;
    const to = from.renewed();
    const carrier = new SeriesCarrier(from, to);
    let looked = 0;
    for (const memtable of memtables) {
      for (const { series, rowCount } of memtable.chunks.slice()) {
        for (let row = 0; row < rowCount; row++) {
          carrier.numberOf(series[row] as number);
          if (++looked % RENEWAL_STEP_ROWS === 0) await turn();
        }
      }
    }
    assert(this.current === from, "one renewal at a time");
    const carriers = new WeakMap([[from, carrier]]);
    const former = [...this.former.filter((known) => known.deref() !== undefined), new WeakRef(from)];
    return {
      numberOf: (series) => carrier.numberOf(series),
      commit: () => {
        this.carriers = carriers;
        this.former = former;
        this.current = to;
        this.hasLostRows = false;
      },
    };
  }

  private carrierFrom(registry: SeriesRegistry): SeriesCarrier {
    let carrier = this.carriers.get(registry);
    if (carrier === undefined) {
      carrier = new SeriesCarrier(registry, this.current);
      this.carriers.set(registry, carrier);
    }
    return carrier;
  }
}
