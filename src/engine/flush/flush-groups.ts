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
