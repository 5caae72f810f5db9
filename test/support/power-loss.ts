/**
 * What a power loss leaves: of changes that no sync has covered any part. Of a write any of its sectors, of a folder's changes any, unless
 * a drawn mode says all, none or the first few. What is lost of a file that has grown reads as zeros, noise or old bytes of another file.
 * It is harder than any journalling file system.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../bench/macro/random.ts";

/** A change of a file that no sync has covered. */
export type FileChange =
  | { readonly kind: "write"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut"; readonly length: number };

/** A file: durable bytes, and changes since. */
export interface FileNode {
  readonly kind: "file";
  durable: Uint8Array;
  changes: FileChange[];
}

/** A change of a folder that no sync has covered. */
export type FolderChange =
  | { readonly kind: "add"; readonly name: string; readonly node: Node }
  | { readonly kind: "move"; readonly from: string; readonly to: string }
  | { readonly kind: "remove"; readonly name: string };

/** A folder: entries now, durable ones, and changes since. */
export interface FolderNode {
  readonly kind: "folder";
  readonly entries: Map<string, Node>;
  durable: Map<string, Node>;
  changes: FolderChange[];
}

/** What a name stands for. */
export type Node = FileNode | FolderNode;

/** How a power loss treats changes that no sync has covered. */
interface Loss {
  readonly random: Random;
  readonly sectorBytes: number;
  /** Share of changes that are kept. */
  readonly kept: number;
  /** Whether a kept change means that all before it, of the same file or folder, are kept. */
  readonly isInOrder: boolean;
  readonly fill: (typeof FILLS)[number];
  /** Bytes that lay on the disk before. */
  readonly stale: Uint8Array;
}

const SECTORS = [512, 4096];
const SHARES = [0, 0, 0.1, 0.5, 0.5, 0.9, 1];
const FILLS = ["zeros", "noise", "stale"] as const;

/** Gives an entry another name, in the place of what had it. */
export function moveEntry(entries: Map<string, Node>, from: string, to: string): void {
  const node = entries.get(from);
  if (node === undefined) return; // The change that added it was lost.
  entries.delete(from);
  entries.set(to, node);
}

/** Bytes after changes, all of them. */
export function applied(bytes: Uint8Array, changes: readonly FileChange[]): Uint8Array {
  let result = bytes;
  for (const change of changes) {
    const length = change.kind === "cut" ? change.length : Math.max(result.length, change.at + change.bytes.length);
    result = resized(result, length);
    if (change.kind === "write") result.set(change.bytes, change.at);
  }
  return result;
}

function resized(bytes: Uint8Array, length: number): Uint8Array {
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(0, length));
  return copy;
}

/** Which of `count` changes a power loss keeps. */
function keptOf(count: number, { random, kept, isInOrder }: Loss): boolean[] {
  if (!isInOrder) return Array.from({ length: count }, () => random.next() < kept);
  const first = Math.floor(random.next() * (count + 1) * (kept === 0 ? 0 : 1));
  return Array.from({ length: count }, (_, i) => kept === 1 || i < first);
}

/** What is left of a file: cut at sectors, with something else where sectors are lost. */
function leftOf(node: FileNode, loss: Loss): Uint8Array {
  const pieces = node.changes.flatMap((change) => (change.kind === "cut" ? [change] : sectorsOf(change, loss.sectorBytes)));
  const isKept = keptOf(pieces.length, loss);
  let bytes = node.durable;
  for (const [i, piece] of pieces.entries()) {
    if (isKept[i] !== true) continue;
    const before = bytes.length;
    bytes = applied(bytes, [piece]);
    if (piece.kind === "write" && piece.at > before) fill(bytes.subarray(before, piece.at), loss);
  }
  // The length may be durable where the bytes are not.
  const grown = applied(node.durable, node.changes).length;
  if (grown <= bytes.length || loss.kept === 0 || loss.random.below(3) > 0) return bytes;
  const before = bytes.length;
  bytes = resized(bytes, before + loss.random.below(grown - before + 1));
  fill(bytes.subarray(before), loss);
  return bytes;
}

function sectorsOf({ at, bytes }: Extract<FileChange, { kind: "write" }>, sectorBytes: number): FileChange[] {
  const pieces: FileChange[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, (Math.floor((at + start) / sectorBytes) + 1) * sectorBytes - at);
    pieces.push({ kind: "write", at: at + start, bytes: bytes.subarray(start, end) });
    start = end;
  }
  return pieces;
}

function fill(bytes: Uint8Array, { random, fill: what, stale }: Loss): void {
  if (what === "noise") for (let i = 0; i < bytes.length; i++) bytes[i] = random.below(256);
  if (what === "stale" && stale.length > 0) for (let i = 0; i < bytes.length; i++) bytes[i] = stale[i % stale.length]!;
}

/** Bytes of some file, as a block of the disk held them before it was given to another one. */
function oldBytes(folder: FolderNode): Uint8Array {
  for (const node of folder.durable.values()) {
    const bytes = node.kind === "folder" ? oldBytes(node) : node.durable;
    if (bytes.length > 0) return bytes;
  }
  return new Uint8Array(0);
}

/** Draws how hard the loss is and puts what is left of a folder into `to`, which must not exist. */
export function writeLeft(top: FolderNode, to: string, random: Random): void {
  writeFolder(top, to, {
    random,
    sectorBytes: SECTORS[random.below(SECTORS.length)]!,
    kept: SHARES[random.below(SHARES.length)]!,
    isInOrder: random.below(2) === 0,
    fill: FILLS[random.below(FILLS.length)]!,
    stale: oldBytes(top),
  });
}

function writeFolder(node: FolderNode, to: string, loss: Loss): void {
  const entries = new Map(node.durable);
  const isKept = keptOf(node.changes.length, loss);
  for (const [i, change] of node.changes.entries()) {
    if (isKept[i] !== true) continue;
    if (change.kind === "add") entries.set(change.name, change.node);
    else if (change.kind === "remove") entries.delete(change.name);
    else moveEntry(entries, change.from, change.to);
  }
  mkdirSync(to);
  for (const [name, entry] of entries) {
    if (entry.kind === "folder") writeFolder(entry, join(to, name), loss);
    else writeFileSync(join(to, name), leftOf(entry, loss));
  }
}
