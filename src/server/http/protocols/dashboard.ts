/**
 * The dashboard (contract http.md 1.3): a page and its files, built by `bin/build-dashboard.ts`. Files are named by their content and never
 * change; the page itself has a new nonce each time, by which its editor may add styles and nothing else may.
 *
 * No credentials: the page holds nothing, and asks for them when a request of its own is refused.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exchange } from "../exchange.ts";
import { emptyReply, type Reply, textReply } from "../reply.ts";
import type { Handler, Route } from "../router.ts";

const NONCE_BYTES = 18;
/** Names that the build makes: nothing with a separator or a leading dot is looked for. */
const ASSET_NAME = /^[a-z][\w-]*\.(?:js|css|svg)$/;
const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** The routes of this file. @param folder where the built files are */
export function dashboardPageRoutes(folder: string): readonly Route[] {
  const pages = new BuiltPages(folder);
  const page: Handler = () => pages.page();
  const moved: Handler = () => emptyReply(308, { location: "/dashboard" });
  return [
    { path: "/dashboard", methods: { GET: page, POST: page }, errors: "plain" },
    { path: "/dashboard/", methods: { GET: moved, POST: moved }, errors: "plain" },
    { path: "/dashboard/assets/{name}", methods: { GET: (exchange) => pages.asset(exchange) }, errors: "plain" },
  ];
}

class BuiltPages {
  private readonly folder: string;
  private template: string | undefined;
  /** Files that were asked for, compressed or not: some hundred kilobytes in all, since only names of the build are found. */
  private readonly files: Map<string, Uint8Array<ArrayBuffer>> = new Map();

  constructor(folder: string) {
    this.folder = folder;
  }

  async page(): Promise<Reply> {
    const path = join(this.folder, "index.html");
    if (this.template === undefined && !existsSync(path))
      return textReply(503, "The dashboard was not built. `bun install` does it, or `bun run bin/build-dashboard.ts`.\n");
    this.template ??= await readFile(path, "utf8");
    const nonce = randomBytes(NONCE_BYTES).toString("base64");
    return {
      status: 200,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
        "content-security-policy": policy(nonce),
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
      },
      body: this.template.replaceAll("{nonce}", nonce),
    };
  }

  async asset(exchange: Exchange): Promise<Reply> {
    const name = exchange.path.slice(exchange.path.lastIndexOf("/") + 1);
    if (!ASSET_NAME.test(name)) return emptyReply(404);
    const accepted = exchange.request.headers.get("accept-encoding") ?? "";
    const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : undefined;
    const body = await this.file(encoding === undefined ? name : `${name}.${encoding === "gzip" ? "gz" : "br"}`);
    if (body === undefined) return emptyReply(404);
    return {
      status: 200,
      headers: {
        "content-type": TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
        vary: "accept-encoding",
        ...(encoding === undefined ? {} : { "content-encoding": encoding }),
      },
      body,
    };
  }

  private async file(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const known = this.files.get(name);
    if (known !== undefined) return known;
    const path = join(this.folder, name);
    if (!existsSync(path)) return undefined;
    const bytes = new Uint8Array(await readFile(path));
    this.files.set(name, bytes);
    return bytes;
  }
}

/** Scripts and styles of this server alone, styles of the editor by the nonce; no frames, no forms, no other site. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
