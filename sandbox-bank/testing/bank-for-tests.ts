/**
 * A sandbox bank on free ports with a ledger of its own, which is stopped and removed after the
 * test.
 */
import { rmSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bank, startBank } from "../bank.ts";

type TestBank = Bank & { readonly dataDir: string; readonly logged: readonly string[] };

type Cleanup = { after(clean: () => Promise<void>): void };

/** The folder of the first bank's certificates: making the keys takes longer than most tests. */
let keptCertificates: string | undefined;

export async function startTestBank(
  t: Cleanup,
  has: "known keys" | "own keys" = "known keys",
): Promise<TestBank> {
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-bank-"));
  const tlsFolder = join(dataDir, "bank", "tls");
  const known = has === "known keys" ? keptCertificates : undefined;
  if (known !== undefined) await cp(known, tlsFolder, { recursive: true });
  const logged: string[] = [];
  const log = (line: string) => logged.push(line);
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir, log });
  keptCertificates ??= await keep(tlsFolder);
  t.after(async () => {
    await bank.stop();
    await rm(dataDir, { recursive: true });
  });
  return { ...bank, dataDir, logged };
}

async function keep(folder: string): Promise<string> {
  const kept = await mkdtemp(join(tmpdir(), "tollgate-bank-keys-"));
  await cp(folder, kept, { recursive: true });
  process.on("exit", () => rmSync(kept, { recursive: true, force: true }));
  return kept;
}

/** Returns the ledger entries of one reference in a short form for comparisons: `sale 1000`. */
export function booked(bank: Bank, reference: string | undefined): readonly string[] {
  return bank.ledger(reference ?? "").map(({ kind, amount }) => `${kind} ${amount}`);
}
