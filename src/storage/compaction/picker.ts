/**
 * Which files of a table to merge: a pure function of their descriptions.
 *
 * Files lie in nested windows of 1, 8 and 64 days (`sst/time-window.ts`). Within one, they are taken as layers, oldest sequence first:
 *
 *   sequence ─►   [ 900 MB ] [ 210 MB ] [ 64 MB ] [ 60 MB ] [ 61 MB ]     from the newest back, a layer joins while it is not larger
 *                                       '------- merged: 3 + 210? ---'    than all newer ones together (times a slack)
 *
 * So a row is rewritten about log(n) times, and a window keeps a few files of each size. A day's files merge as soon as there are
 * enough of them; windows of 8 and 64 days merge when no more rows are expected and they are small, so that a table of years has few files.
 *
 * Where rows expire, files whose newest rows expire at different times stay apart: a file leaves unread once its newest row has expired. A
 * short ttl would otherwise see every row merged again and again with newer ones, and kept until those have expired too.
 *
 * A window of which much is deleted is merged whole, so that tombstones and what they hide leave the disk.
 *
 * The result takes the largest sequence of its inputs. It may therefore replace only files that are neighbours in sequence among those that
 * overlap with their time: otherwise a row of a file between them would win or lose against the wrong one.
 *
 * Source: size-tiered ("universal") compaction as in LSM stores, one tree a time window.
 */
import type { TimeUnit } from "../../column/data-type.ts";
import { compareFiles, type DataFile } from "../sst/data-file.ts";
import { WINDOW_DAYS, windowStartOf } from "../sst/time-window.ts";

/** When files merge. */
export interface PickOptions {
  /** Files of a window that are merged at least. From 2 on. */
  readonly triggerFiles: number;
  /** Most bytes that a merge reads, so about the size of the largest file it makes. */
  readonly outputBytesMax: number;
  /** How long after one another the newest rows of files may expire that are merged, in units of the time index. Absent: none expire. */
  readonly expiryApartMax?: bigint | undefined;
}

/** Files to merge to one, oldest first; at least two, all within one 64-day window. */
export type PickedFiles = readonly DataFile[];

/** A layer joins newer ones while it is at most this many times as large as they are together. */
const SLACK = 1.25;
/** Share of `outputBytesMax` up to which files of several days are brought together. */
const WIDE_SHARE = 1 / 8;
/** Layers of a window from which some are merged whatever their sizes are. */
const LAYERS_MAX = 32;

/** A window of which at least this share of rows is deleted is merged whole: disk comes back at about four times its rewriting at most. */
const DELETED_SHARE = 1 / 4;
/** Ranges of a window from which it is merged whole. Reason: whoever opens its files holds them all, at 16 B each. */
const TOMBSTONES_MAX = 1_048_576;

/** The next merges, independent of each other, those of the newest window first. */
export function pickFiles(files: readonly DataFile[], unit: TimeUnit, options: PickOptions): PickedFiles[] {
  const picked: PickedFiles[] = [];
  const taken = new Set<DataFile>();
  for (const days of WINDOW_DAYS) {
    for (const { members, isClosed } of windowsOf(files, unit, days)) {
      if (members.length < 2 || members.some((file) => taken.has(file))) continue;
      if (isMuchDeleted(members) && bytesOf(members) <= options.outputBytesMax && mayMerge(members, files)) {
        for (const file of members) taken.add(file);
        picked.push([...members]);
        continue;
      }
      if (members.length < options.triggerFiles) continue;
      const isWide = days > 1 && !members.some((file) => spanOf(file, unit) === days);
      if (isWide && (!isClosed || bytesOf(members) > options.outputBytesMax * WIDE_SHARE)) continue;
      const found = pickLayers(layersOf(members), options).find((layers) => mayMerge(layers, files));
      if (found === undefined) continue;
      for (const file of found) taken.add(file);
      picked.push(found);
    }
  }
  return picked;
}

/** The merges that leave one file a window, or as few as `outputBytesMax` allows. */
export function pickAll(files: readonly DataFile[], unit: TimeUnit, options: Pick<PickOptions, "outputBytesMax">): PickedFiles[] {
  const picked: PickedFiles[] = [];
  const taken = new Set<DataFile>();
  for (const days of WINDOW_DAYS.toReversed()) {
    for (const { members } of windowsOf(files, unit, days)) {
      const hasWide = members.some((file) => spanOf(file, unit) === days);
      if (!hasWide || members.some((file) => taken.has(file))) continue;
      for (const file of members) taken.add(file);
      for (const group of cutBySize(layersOf(members), options.outputBytesMax)) {
        if (group.length > 1 && mayMerge(group, files)) picked.push(group);
      }
    }
  }
  return picked;
}

interface Window {
  readonly start: bigint;
  /** Files that lie within the window, oldest first. */
  readonly members: readonly DataFile[];
  /** Whether the newest rows of the table lie beyond it. */
  readonly isClosed: boolean;
}

/** Windows of a length that hold files, newest first. */
function windowsOf(files: readonly DataFile[], unit: TimeUnit, days: number): Window[] {
  const byStart = new Map<bigint, DataFile[]>();
  let newest: bigint | undefined;
  for (const file of files) {
    const end = windowStartOf(file.maxTime, days, unit);
    if (newest === undefined || end > newest) newest = end;
    if (windowStartOf(file.minTime, days, unit) !== end) continue;
    const members = byStart.get(end);
    if (members === undefined) byStart.set(end, [file]);
    else members.push(file);
  }
  const windows = Array.from(byStart, ([start, members]) => ({
    start,
    members: members.sort(compareFiles),
    isClosed: newest !== undefined && start < newest,
  }));
  return windows.sort((a, b) => (a.start > b.start ? -1 : 1));
}

/** Days of the narrowest window that holds the file. */
function spanOf(file: DataFile, unit: TimeUnit): number {
  return WINDOW_DAYS.find((days) => windowStartOf(file.minTime, days, unit) === windowStartOf(file.maxTime, days, unit)) ?? 0;
}

/** Whether tombstones of a window's files hide enough of its rows to be worth rewriting all of them. */
function isMuchDeleted(members: readonly DataFile[]): boolean {
  let rows = 0;
  let deleted = 0;
  let ranges = 0;
  for (const { rowCount, tombstones } of members) {
    rows += rowCount;
    deleted += tombstones?.rowCount ?? 0;
    ranges += tombstones?.count ?? 0;
  }
  return ranges > 0 && (deleted >= rows * DELETED_SHARE || ranges >= TOMBSTONES_MAX);
}

function bytesOf(files: readonly DataFile[]): number {
  let bytes = 0;
  for (const file of files) bytes += file.byteLength;
  return bytes;
}

/** Files of equal sequence: one flush made them for different windows, so their order does not matter and they stay together. */
function layersOf(members: readonly DataFile[]): DataFile[][] {
  const layers: DataFile[][] = [];
  let last: DataFile[] | undefined;
  for (const file of members) {
    if (last?.[0]?.sequence === file.sequence) last.push(file);
    else layers.push((last = [file]));
  }
  return layers;
}

/** Ranges of layers worth a merge, the best first. */
function pickLayers(layers: readonly (readonly DataFile[])[], options: PickOptions): DataFile[][] {
  const ranges: DataFile[][] = [];
  for (let end = layers.length; end > 0; ) {
    let sum = bytesOf(layers[end - 1] ?? []);
    let start = end - 1;
    const newest = new NewestRows(layers[end - 1] ?? []);
    for (; start > 0; start--) {
      const layer = layers[start - 1] ?? [];
      const bytes = bytesOf(layer);
      if (bytes > sum * SLACK || sum + bytes > options.outputBytesMax) break;
      if (!newest.takes(layer, options.expiryApartMax)) break;
      sum += bytes;
    }
    const range = layers.slice(start, end).flat();
    if (range.length >= options.triggerFiles && sum <= options.outputBytesMax) ranges.push(range);
    end = start === end - 1 || range.length < options.triggerFiles ? end - 1 : start;
  }
  if (ranges.length === 0 && layers.length > LAYERS_MAX) {
    const smallest = smallestRange(layers, options);
    if (smallest !== undefined) ranges.push(smallest);
  }
  return ranges;
}

/** The newest rows of files: from which to which time they are. */
class NewestRows {
  private first: bigint;
  private last: bigint;

  constructor(files: readonly DataFile[]) {
    this.first = this.last = files[0]?.maxTime ?? 0n;
    this.takes(files, undefined);
  }

  /** Adds files, unless those of all then lie farther apart than `apartMax`. */
  takes(files: readonly DataFile[], apartMax: bigint | undefined): boolean {
    let { first, last } = this;
    for (const { maxTime } of files) {
      if (maxTime < first) first = maxTime;
      if (maxTime > last) last = maxTime;
    }
    if (apartMax !== undefined && last - first > apartMax) return false;
    this.first = first;
    this.last = last;
    return true;
  }
}

function smallestRange(layers: readonly (readonly DataFile[])[], { triggerFiles, outputBytesMax }: PickOptions): DataFile[] | undefined {
  let best: DataFile[] | undefined;
  for (let start = 0; start + triggerFiles <= layers.length; start++) {
    const range = layers.slice(start, start + triggerFiles).flat();
    if (bytesOf(range) <= outputBytesMax && (best === undefined || bytesOf(range) < bytesOf(best))) best = range;
  }
  return best;
}

/** Neighbouring layers up to the limit; a larger one stands alone. */
function cutBySize(layers: readonly (readonly DataFile[])[], bytesMax: number): DataFile[][] {
  const groups: DataFile[][] = [];
  let sum = 0;
  for (const layer of layers) {
    const bytes = bytesOf(layer);
    const last = groups.at(-1);
    if (last === undefined || sum + bytes > bytesMax) {
      groups.push([...layer]);
      sum = bytes;
    } else {
      last.push(...layer);
      sum += bytes;
    }
  }
  return groups;
}

/** Whether no other file that may hold the same rows lies between the inputs in sequence. */
function mayMerge(inputs: readonly DataFile[], files: readonly DataFile[]): boolean {
  const [first] = inputs;
  if (first === undefined) return false;
  let { minTime, maxTime, sequence: lowest, sequence: highest } = first;
  for (const file of inputs) {
    if (file.minTime < minTime) minTime = file.minTime;
    if (file.maxTime > maxTime) maxTime = file.maxTime;
    lowest = Math.min(lowest, file.sequence);
    highest = Math.max(highest, file.sequence);
  }
  return files.every((file) => {
    const isBetween = file.sequence >= lowest && file.sequence <= highest;
    return !isBetween || file.maxTime < minTime || file.minTime > maxTime || inputs.includes(file);
  });
}
