/**
 * Sales paid with wallets' tokens: how many a second, what opening them costs, and whether it
 * stalls those who pay with cards at the same time.
 */
import { grownBetween, readMetrics } from "./gateway-metrics.ts";
import {
  countApproved,
  measureArrivals,
  type Stage,
  takeAcknowledged,
  untilNoneOpen,
} from "./measure.ts";
import { type WalletToken, walletMinor } from "./requests.ts";

export type Wallets = {
  /** Completed, as sales are. */
  readonly perSecond: number;
  /** In the thread that does nothing else. */
  readonly openingMs: number;
  readonly openingShare: number;
  /** Of plain sales, while wallet sales come alongside. */
  readonly alongsideP99Ms: number;
};

const tokensPaid = 1_000;
const besidePerSecond = 50;
const mintersMax = 8;

export async function measureWallets(stage: Stage, round: number): Promise<Wallets> {
  const paid = await measurePaid(stage, `wallet${round}`);
  return { ...paid, alongsideP99Ms: await measureBeside(stage, round) };
}

async function measurePaid(stage: Stage, prefix: string): Promise<Omit<Wallets, "alongsideP99Ms">> {
  const { plan, gateway, load } = stage;
  const { target } = gateway;
  const { connections } = plan;
  const tokens = await mint(gateway.bankUrl, tokensPaid);
  const before = await readMetrics(target.port);
  const sold = await load.ask("walletSales", { target, connections, prefix, tokens });
  if (sold.refused > 0)
    throw new Error(`${sold.refused} wallet sales were refused: ${sold.refusal}`);
  const spentMs = (await untilNoneOpen(stage)) - sold.startedAtMs;
  const after = await readMetrics(target.port);
  await takeAcknowledged(stage, prefix);
  const openedMs = grownBetween(before, after, "tollgate_wallet_opening_ms_sum");
  const opened = grownBetween(before, after, "tollgate_wallet_opening_ms_count");
  return {
    perSecond: ((await countApproved(stage, prefix)) * 1000) / spentMs,
    openingMs: openedMs / opened,
    openingShare: openedMs / spentMs,
  };
}

async function measureBeside(stage: Stage, round: number): Promise<number> {
  const { plan, gateway, otherLoad } = stage;
  const { target } = gateway;
  const prefix = `beside${round}`;
  const tokens = await mint(gateway.bankUrl, besidePerSecond * plan.arrivalSeconds);
  const job = { target, connections: 16, prefix, tokens, perSecond: besidePerSecond };
  const beside = otherLoad.ask("walletArrivals", job);
  const { finalMs } = await measureArrivals(stage, `mixed${round}`);
  await beside;
  await untilNoneOpen(stage);
  await takeAcknowledged(stage, prefix, { into: stage.acknowledged, load: otherLoad });
  return finalMs.p99;
}

/** Both wallets by turns, each token another. */
async function mint(bankUrl: string, count: number): Promise<readonly WalletToken[]> {
  const tokens: WalletToken[] = [];
  const order = { pan: "4111111111111111", expirationYear: 2039, expirationMonth: 12 };
  const asked = { ...order, amount: walletMinor, currency: "USD" };
  let next = 0;
  await Promise.all(Array.from({ length: mintersMax }, mintSome));
  return tokens;

  async function mintSome(): Promise<void> {
    for (let index = next++; index < count; index = next++) {
      const wallet = index % 2 === 0 ? "walleta" : "walletb";
      const proven = wallet === "walletb" ? { authMethod: "CRYPTOGRAM_3DS" } : {};
      const answer = await fetch(`${bankUrl}/wallets/${wallet}`, {
        method: "POST",
        body: JSON.stringify({ ...asked, ...proven }),
      });
      if (!answer.ok) throw new Error(`the bank mints nothing: ${await answer.text()}`);
      tokens.push({ type: `${wallet}_encrypted`, text: await answer.text() });
    }
  }
}
