/**
 * The order in which runs and clusters of several groups are handed out: by slot, then by group, then by their first time. A counting sort
 * by slot over typed arrays; what shares slot and group is a handful.
 */
import type { RunList } from "../runs/run-list.ts";

/** What is sorted: the runs of one 64-day group. `runs.slots` lie in `[slotStart, slotEnd)`. */
export interface UnitGroup {
  readonly runs: RunList;
  readonly singles: Uint32Array;
  readonly clusters: readonly (readonly number[])[];
}

/** Units in order. Unit i is run `runs[i]` of group `groups[i]` or, where `clusters[i]` is not -1, that cluster of the group. */
export interface OrderedUnits {
  readonly count: number;
  readonly groups: Uint32Array;
  readonly runs: Uint32Array;
  readonly clusters: Int32Array;
}

/** See the file header. Groups are oldest first. */
export function orderUnits(groups: readonly UnitGroup[], slotStart: number, slotEnd: number): OrderedUnits {
  let count = 0;
  for (const { singles, clusters } of groups) count += singles.length + clusters.length;
  const cursors = new Uint32Array(slotEnd - slotStart + 1);
  forEachUnit(groups, (slot) => {
    cursors[slot - slotStart + 1] = (cursors[slot - slotStart + 1] as number) + 1;
  });
  for (let slot = 1; slot < cursors.length; slot++) cursors[slot] = (cursors[slot] as number) + (cursors[slot - 1] as number);
  const units = { count, groups: new Uint32Array(count), runs: new Uint32Array(count), clusters: new Int32Array(count) };
  const firsts = new Float64Array(count);
  const slots = new Uint32Array(count);
  forEachUnit(groups, (slot, group, run, cluster, first) => {
    const at = cursors[slot - slotStart] as number;
    cursors[slot - slotStart] = at + 1;
    units.groups[at] = group;
    units.runs[at] = run;
    units.clusters[at] = cluster;
    firsts[at] = first;
    slots[at] = slot;
  });
  sortStretches(units, slots, firsts);
  return units;
}

function forEachUnit(
  groups: readonly UnitGroup[],
  visit: (slot: number, group: number, run: number, cluster: number, first: number) => void,
): void {
  for (let g = 0; g < groups.length; g++) {
    const { runs, singles, clusters } = groups[g] as UnitGroup;
    for (let i = 0; i < singles.length; i++) {
      const run = singles[i] as number;
      visit(runs.slots[run] as number, g, run, -1, runs.firsts[run] as number);
    }
    for (let k = 0; k < clusters.length; k++) {
      const cluster = clusters[k] as readonly number[];
      let first = Number.POSITIVE_INFINITY;
      for (const run of cluster) first = Math.min(first, runs.firsts[run] as number);
      const run = cluster[0] as number;
      visit(runs.slots[run] as number, g, run, k, first);
    }
  }
}

/** Units of one slot and group stand together, in the order of sources: brings them in that of their first times. */
function sortStretches({ count, groups, runs, clusters }: OrderedUnits, slots: Uint32Array, firsts: Float64Array): void {
  for (let i = 1; i < count; i++) {
    const slot = slots[i] as number;
    const group = groups[i] as number;
    const first = firsts[i] as number;
    const run = runs[i] as number;
    const cluster = clusters[i] as number;
    let j = i - 1;
    for (; j >= 0 && slots[j] === slot && groups[j] === group && (firsts[j] as number) > first; j--) {
      firsts[j + 1] = firsts[j] as number;
      runs[j + 1] = runs[j] as number;
      clusters[j + 1] = clusters[j] as number;
    }
    firsts[j + 1] = first;
    runs[j + 1] = run;
    clusters[j + 1] = cluster;
  }
}
