/** What S3 stores answer: XML of a few known shapes. Source: the REST API of Amazon S3. Nothing else of it is repeated to anybody. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** An object of a list. */
export interface ListedObject {
  readonly key: string;
  readonly size: number;
}

/** Some objects of a list, and where to go on; without it the list ends. */
export interface ObjectList {
  readonly objects: readonly ListedObject[];
  readonly after?: string;
}

/** The answer of ListObjectsV2. @throws DbError StorageUnavailable when a name is not encoded as it says */
export function listOf(text: string): ObjectList {
  const isEncoded = tagOf(text, "EncodingType") === "url";
  const parts = text.split("<Contents>").slice(1);
  const objects = parts.map((part) => {
    const key = tagOf(part, "Key") ?? "";
    return { key: isEncoded ? decodedKey(key) : key, size: Number(tagOf(part, "Size") ?? 0) };
  });
  const next = tagOf(text, "IsTruncated") === "true" ? tagOf(text, "NextContinuationToken") : undefined;
  return next === undefined ? { objects } : { objects, after: next };
}

/** An upload that was begun and neither completed nor given up. */
export interface OpenUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** Those that an answer of ListMultipartUploads names. @throws DbError as `listOf` */
export function uploadsOf(text: string): readonly OpenUpload[] {
  const isEncoded = tagOf(text, "EncodingType") === "url";
  return text
    .split("<Upload>")
    .slice(1)
    .map((part) => {
      const key = tagOf(part, "Key") ?? "";
      return { key: isEncoded ? decodedKey(key) : key, uploadId: tagOf(part, "UploadId") ?? "" };
    });
}

/** The code of an error, if it is a word: nothing else of an answer is repeated. */
export function codeOf(text: string): string {
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? "";
}

/** The text of the first tag of a name. */
export function tagOf(text: string, name: string): string | undefined {
  const from = text.indexOf(`<${name}>`);
  const to = from < 0 ? -1 : text.indexOf(`</${name}>`, from);
  return to < 0 ? undefined : unescaped(text.slice(from + name.length + 2, to));
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{2,4}));/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}

/** A text as XML holds it. */
export const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch (cause) {
    throw new DbError(StatusCode.StorageUnavailable, "cannot read the store's list: a name in it is not encoded as it says", { cause });
  }
}
