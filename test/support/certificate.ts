/** A certificate of its own name and its key, in files of a temporary folder: made by openssl, once a name and process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where they lie. */
export interface CertificateFiles {
  readonly certPath: string;
  readonly keyPath: string;
}

const made = new Map<string, Promise<CertificateFiles>>();

/** The files of a certificate for localhost. */
export function certificate(name: string): Promise<CertificateFiles> {
  const known = made.get(name);
  if (known !== undefined) return known;
  const files = make();
  made.set(name, files);
  return files;
}

/** Clients that check names look here, not at the subject. */
const NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1";

async function make(): Promise<CertificateFiles> {
  const folder = mkdtempSync(join(tmpdir(), "varve-certificate-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const files = { certPath: join(folder, "cert.pem"), keyPath: join(folder, "key.pem") };
  const { certPath, keyPath } = files;
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyPath];
  const openssl = Bun.spawn(
    ["openssl", "req", "-x509", ...key, "-out", certPath, "-days", "2", "-subj", "/CN=localhost", "-addext", NAMES],
    {
      stderr: "pipe",
    },
  );
  if ((await openssl.exited) !== 0) throw new Error(`openssl made no certificate: ${await openssl.stderr.text()}`);
  return files;
}
