/** An authority and certificates that it signed, made by openssl: as texts, for both sides of a connection. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** PEM. */
export interface SignedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** See the file header. */
export interface Authority {
  /** PEM. */
  readonly ca: string;
  /** A certificate for localhost. @param days that it is good for; -1: it has expired */
  signed(name: string, days: number): Promise<SignedCertificate>;
}

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

/** Makes one. */
export async function certificateAuthority(): Promise<Authority> {
  const folder = mkdtempSync(join(tmpdir(), "varve-authority-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  const text = (name: string): Promise<string> => Bun.file(at(name)).text();
  await openssl("req", "-x509", ...KEY, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "2", "-subj", "/CN=authority");
  await Bun.write(at("names"), "subjectAltName=DNS:localhost,IP:127.0.0.1\n");
  return {
    ca: await text("ca.pem"),
    async signed(name, days) {
      await openssl("req", ...KEY, "-keyout", at(`${name}.key`), "-out", at(`${name}.csr`), "-subj", `/CN=${name}`);
      const by = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("names")];
      await openssl("x509", "-req", "-in", at(`${name}.csr`), ...by, "-out", at(`${name}.pem`), "-days", String(days));
      return { cert: await text(`${name}.pem`), key: await text(`${name}.key`) };
    },
  };
}

async function openssl(...args: readonly string[]): Promise<void> {
  const run = Bun.spawn(["openssl", ...args], { stderr: "pipe" });
  if ((await run.exited) !== 0) throw new Error(`openssl ${args[0]} failed: ${await run.stderr.text()}`);
}
