/** Which tables are flushed together: a flush of ten rows costs two syncs and a commit, most of which many small tables can share. */

/** Most tables that are flushed together. Reason: all of them are in memory twice, and the commit that names their files is one. */
const FLUSH_GROUP_TABLES_MAX = 512;

/** The first of `regions`, and those after it as long as all of them hold at most `bytesMax` of memory together. */
export function takeGroup<T extends { readonly memoryBytes: number }>(regions: Iterable<T>, bytesMax: number): T[] {
  const group: T[] = [];
  let bytes = 0;
  for (const region of regions) {
    bytes += region.memoryBytes;
    if (group.length > 0 && (bytes > bytesMax || group.length === FLUSH_GROUP_TABLES_MAX)) break;
    group.push(region);
  }
  return group;
}

/**
 * The tables with most rows in memory, most first, equal ones as they come: as many as a group may have. Beside 100,000 tables it was 70 to
 * 130 ms of the thread for each group to sort all of them.
 */
export function largestOf<T extends { readonly activeBytes: number }>(regions: readonly T[]): T[] {
  const largest = regions.length <= FLUSH_GROUP_TABLES_MAX ? [...regions] : chosenOf(regions);
  return largest.sort((a, b) => b.activeBytes - a.activeBytes);
}

function chosenOf<T extends { readonly activeBytes: number }>(regions: readonly T[]): T[] {
  const sizes = new Float64Array(regions.length);
  for (let i = 0; i < regions.length; i++) sizes[i] = regions[i]?.activeBytes ?? 0;
  const sorted = sizes.toSorted();
  const least = sorted[sorted.length - FLUSH_GROUP_TABLES_MAX] ?? 0;
  let equalLeft = FLUSH_GROUP_TABLES_MAX;
  for (let i = sorted.length - 1; i >= 0 && (sorted[i] ?? 0) > least; i--) equalLeft--;
  return regions.filter((_, i) => (sizes[i] ?? 0) > least || (sizes[i] === least && equalLeft-- > 0));
}
