/** Signatures of requests to S3 stores. Source: AWS Signature Version 4, with the payload unsigned. */
import { createHash, createHmac } from "node:crypto";

/** Who signs. */
export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
}

/** What is signed. */
export interface SignedRequest {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly query: S3Query;
  readonly amz?: Readonly<Record<string, string>>;
}

const ALGORITHM = "AWS4-HMAC-SHA256";
const PAYLOAD = "UNSIGNED-PAYLOAD";

/**
 * The headers that sign a request.
 *
 * @param query pairs, not encoded
 * @param path encoded as it is sent
 * @param amz further headers whose names begin with `x-amz-`, in lower case: stores want them signed, and they are among those returned
 * @param millis since the epoch: stores refuse what is some minutes off
 */
export function signedHeaders(
  { method, host, path, query, amz = {} }: SignedRequest,
  { accessKeyId, secretAccessKey, sessionToken, region }: S3Keys,
  millis: number,
): Readonly<Record<string, string>> {
  const time = new Date(millis).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = { ...amz, host, "x-amz-content-sha256": PAYLOAD, "x-amz-date": time };
  if (sessionToken !== undefined) headers["x-amz-security-token"] = sessionToken;
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    path,
    encodedQuery(query),
    ...names.map((name) => `${name}:${headers[name] ?? ""}`),
    "",
    names.join(";"),
    PAYLOAD,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = [ALGORITHM, time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>((by, part) => hmac(by, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString("hex");
  const authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  const { host: _, ...sent } = headers;
  return { ...sent, authorization };
}

/** Query parameters. */
export type S3Query = Readonly<Record<string, string>>;

/** A query as it is signed and sent: sorted, encoded. */
export function encodedQuery(query: S3Query): string {
  const pairs = Object.keys(query).map((name) => `${encodedPart(name)}=${encodedPart(query[name] ?? "")}`);
  return pairs.sort().join("&");
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encodedPart(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
