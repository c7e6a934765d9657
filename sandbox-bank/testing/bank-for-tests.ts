/** A bank on free ports with a ledger of its own, stopped and removed after the test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bank, startBank } from "../bank.ts";

export type TestBank = Bank & { readonly dataDir: string; readonly logged: readonly string[] };

type Cleanup = { after(clean: () => Promise<void>): void };

export async function startTestBank(t: Cleanup): Promise<TestBank> {
  const dataDir = await mkdtemp(join(tmpdir(), "tollgate-bank-"));
  const logged: string[] = [];
  const log = (line: string) => logged.push(line);
  const bank = await startBank({ httpPort: 0, hostPort: 0, dataDir, log });
  t.after(async () => {
    await bank.stop();
    await rm(dataDir, { recursive: true });
  });
  return { ...bank, dataDir, logged };
}

/** The ledger entries of one reference, short enough to compare: `sale 1000`. */
export function booked(bank: Bank, reference: string | undefined): readonly string[] {
  return bank.ledger(reference ?? "").map(({ kind, amount }) => `${kind} ${amount}`);
}
