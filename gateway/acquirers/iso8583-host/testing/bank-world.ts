/** An acquirer that is signed on to a sandbox bank of its own, in any dialect. */
import { type TestContext, test } from "node:test";
import { type GateKind, gateKinds } from "../../gates.ts";
import { dialects } from "../connector.ts";
import { makeAttempt } from "./attempts.ts";
import { connectAcquirer } from "./connections.ts";

/** Where the bank listens for each dialect. */
export const ports: Readonly<Record<GateKind, "hostPort" | "binaryHostPort" | "iso93HostPort">> = {
  sandbox: "hostPort",
  iso87_binary: "binaryHostPort",
  iso93_ascii: "iso93HostPort",
};

/** Only tests may know the bank, so they hand it in: this is what the worlds need of it. */
type Bank = {
  readonly hostPort: number;
  readonly binaryHostPort: number;
  readonly iso93HostPort: number;
  ledger(reference?: string): readonly { readonly kind: string; readonly amount: bigint }[];
};

export function makeStartWorld<Started extends Bank>(
  startBank: (t: TestContext) => Promise<Started>,
) {
  return async (t: TestContext, kind: GateKind) => {
    const bank = await startBank(t);
    return { bank, ...(await connectAcquirer(t, bank[ports[kind]], dialects[kind])) };
  };
}

/** What remains of a charge in the bank's ledger. */
export function outstanding(bank: Bank, reference = makeAttempt().identifiers.reference): bigint {
  return bank
    .ledger(reference)
    .reduce((sum, { kind, amount }) => sum + (["reversal"].includes(kind) ? -amount : amount), 0n);
}

export function each(name: string, run: (t: TestContext, kind: GateKind) => Promise<void>): void {
  for (const kind of gateKinds) test(`${name}, ${kind}`, (t) => run(t, kind));
}
