/** Kinds of values that say where an S3-compatible store is, and who asks. */
import { isOrigin } from "../base/text/endpoint-pattern.ts";
import { type Kind, text } from "./kind.ts";

/** Keys of objects have 1,024 bytes at most; the names of data files take some 40. */
const OBJECT_ROOT_CHARACTERS_MAX = 200;

/** Source: Amazon S3, bucket naming rules; other stores take some more characters. */
export const bucket: Kind<string> = text('a name such as "metrics"', (value) =>
  /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(value) && !value.includes("..") ? undefined : "no bucket has such a name",
);

/** What stands before the names of all objects. */
export const objectRoot: Kind<string> = text('a path such as "varve/one"', (value) => {
  const parts = value.replace(/^\/+|\/+$/g, "").split("/");
  if (value.length > OBJECT_ROOT_CHARACTERS_MAX) return "it is too long";
  if (/\p{Cc}/u.test(value)) return "it holds a control character";
  return parts.some((part) => part === "." || part === "..") ? 'it holds a part "." or ".."' : undefined;
});

/** Where a store answers. */
export const endpoint: Kind<string> = text('an origin such as "https://s3.example.com:9000"', (value) => {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && isOrigin(url) ? undefined : "it is no http or https origin";
});

/** What requests are signed for. */
export const region: Kind<string> = text('a name such as "eu-central-1"', (value) =>
  /^[A-Za-z0-9-]{1,64}$/.test(value) ? undefined : "it is no region",
);

/** A key, or what belongs to it. */
export const accessKey: Kind<string> = text("visible ASCII characters", (value) =>
  /^[\x21-\x7e]{1,1024}$/.test(value) ? undefined : "it holds other characters, or is empty",
);
