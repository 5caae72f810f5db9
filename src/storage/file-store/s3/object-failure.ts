/** Why a store did not do what it was asked, and what the operator may do about it. */

/** See the file header. The message names the request and the answer, never a key or a signature. */
export class ObjectFailure extends Error {
  override readonly name = "ObjectFailure";
  /** 0: there was no whole answer. */
  readonly status: number;
  /** The store's word for it; empty where it gave none. */
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const CHECK_KEYS = "check storage.access_key_id and storage.secret_access_key";
const CHECK_PLACE = "check storage.bucket, storage.region and storage.endpoint";
const ROOM = "the store has no room: make some, writes wait until then";

/** What to do, by the store's word for what is wrong. Source: error codes of Amazon S3's API; XMinio… are MinIO's, XAdmin… versitygw's. */
const BY_CODE: ReadonlyMap<string, string> = new Map([
  ["InvalidAccessKeyId", CHECK_KEYS],
  ["SignatureDoesNotMatch", CHECK_KEYS],
  ["XAdminUserNotFound", CHECK_KEYS],
  ["InvalidToken", CHECK_KEYS],
  ["ExpiredToken", CHECK_KEYS],
  ["AccessDenied", "let these keys read, write, list and delete below storage.root of the bucket"],
  ["NoSuchBucket", CHECK_PLACE],
  ["PermanentRedirect", CHECK_PLACE],
  ["AuthorizationHeaderMalformed", CHECK_PLACE],
  ["RequestTimeTooSkewed", "set the clock of this machine"],
  ["QuotaExceeded", ROOM],
  ["XMinioStorageFull", ROOM],
  ["XMinioAdminBucketQuotaExceeded", ROOM],
]);

/** @param status of the answer, 0: none @param isObject the request was about an object, not a bucket */
export function adviceFor(status: number, code: string, isObject: boolean): string {
  const known = BY_CODE.get(code);
  if (known !== undefined) return known;
  if (status === 0) return "check storage.endpoint, and that the store runs";
  if (status === 401 || status === 403) return `${CHECK_KEYS}, and what they may do in the bucket`;
  if (status === 507) return ROOM;
  if (status >= 300 && status < 400) return CHECK_PLACE;
  if (status === 404 && !isObject) return CHECK_PLACE;
  return status >= 500 || status === 429 ? "the store has trouble: see its own log" : "the store does not understand the request";
}

/** Answers after which the same request may succeed. Those of 4xx say so themselves: too many, too slow, two at once. */
export function isPassing(status: number, code: string): boolean {
  if (status === 501 || status === 505 || status === 507) return false; // The next try has the same answer.
  return (
    status === 0 || status >= 500 || status === 429 || status === 408 || code === "RequestTimeout" || code === "ConditionalRequestConflict"
  );
}

/** Whether a 404 is about the object or upload that was asked for: it may as well be the bucket or the account that does not exist. */
export function isAboutObject(code: string): boolean {
  return code === "NoSuchKey" || code === "NoSuchUpload" || code === ""; // HEAD has no body.
}
