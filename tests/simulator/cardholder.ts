/**
 * The cardholder's browser: enters cards on the payment page, runs the issuer's method, answers
 * challenges and returns, at any node, twice at once, late or never.
 */
import type { PendingStep } from "../../gateway/orders/authentication.ts";
import type { Order } from "../../gateway/orders/order.ts";
import { isFinal } from "../../gateway/orders/stages.ts";
import { initialOf } from "../../gateway/orders/transactions.ts";
import { Failure } from "../../gateway/values/failure.ts";
import { Secret } from "../../gateway/values/secret.ts";
import { allDigits, cardOf } from "./cards.ts";
import type { DirectoryHost } from "./directory.ts";
import type { SimulatedNode } from "./node.ts";
import type { Random } from "./random.ts";
import type { Story } from "./story.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** Calls a node that the seed chooses. Returns undefined if no answer came. */
export type Call = <Result>(
  work: (node: SimulatedNode) => Promise<Result>,
) => Promise<Result | undefined>;

type World = {
  readonly time: VirtualTime;
  readonly story: Story;
  readonly directory: DirectoryHost;
  readonly call: Call;
};

type Seen = { readonly order: Order; readonly step: PendingStep | undefined };

const looksMax = 16;

/**
 * Visits the page until the order is paid or not, or the cardholder gives up. `token` is the
 * page's.
 */
export async function visit(
  { id }: Order,
  token: string | undefined,
  world: World,
  random: Random,
): Promise<void> {
  const { time, story, directory, call } = world;
  for (let looks = 0; looks < looksMax; looks += 1) {
    await pause(random.skewed(100, random.chance(0.03) ? 1_200_000 : 20_000));
    if (random.chance(0.03)) return story.tell("the cardholder is gone", id);
    const seen = await look();
    if (seen === undefined) continue;
    if (isFinal(initialOf(seen.order).stage)) return;
    // Two tabs do the same simultaneously.
    if (random.chance(0.15)) void act(seen);
    await act(seen);
  }

  function look(): Promise<Seen | undefined> {
    return call(async ({ engine, browsers, pages }) => {
      const page = token === undefined ? undefined : await pages.find(token);
      const order = page?.order ?? (await engine.reports.findByNumber(Number(id)));
      return order && { order, step: browsers.stepOf(order) };
    });
  }

  async function act({ order, step }: Seen): Promise<void> {
    if (step !== undefined) await take(order, step);
    else if (order.transaction.stage === "awaiting_card" && token !== undefined) await pay(token);
  }

  async function pay(shown: string): Promise<void> {
    const digits = random.pick(allDigits);
    const isWallet = random.chance(0.1);
    story.tell(`the cardholder enters ${isWallet ? "a wallet" : "a card"}`, id);
    await call(async ({ pages }) => {
      const page = await pages.find(shown);
      if (page?.state.kind !== "awaiting_card") return undefined;
      const card = { kind: "card", ...cardOf(digits), holderName: "JANE DOE" } as const;
      const wallet = { kind: "wallet", type: "walleta_encrypted", text: new Secret("{}") } as const;
      const paid = isWallet ? wallet : card;
      return pages.pay(page, { paid, customer: {}, ipAddress: "203.0.113.7", browser: undefined });
    });
  }

  async function take(order: Order, step: PendingStep): Promise<void> {
    if (step.kind === "method") {
      const browser = { completion: random.pick(["Y", "N"] as const), properties: {} };
      const { transactionId } = step;
      await upload(step, ({ browsers }) => {
        return browsers.uploadMethod(order, { transactionId, browser });
      });
    } else if (step.kind === "challenge") {
      const { acsTransactionId = "" } = order.transaction.threeds?.challenge ?? {};
      const cres = directory.passChallenge(acsTransactionId);
      await pause(random.skewed(1, 90_000));
      if (cres === undefined || random.chance(0.1)) return;
      await upload(step, ({ browsers }) => browsers.uploadChallenge(order, cres));
    } else {
      const paRes = directory.answerPaReq(step.pareq);
      await pause(random.skewed(1, 30_000));
      await upload(step, ({ browsers }) => browsers.uploadPares(order, { paRes, md: step.md }));
    }
  }

  async function upload(
    { kind }: PendingStep,
    work: (node: SimulatedNode) => Promise<Order | Failure>,
  ): Promise<void> {
    story.tell(`the browser brings the ${kind}`, id);
    const done = await call(work);
    const code = done instanceof Failure ? done.code : undefined;
    if (done === undefined || code) story.tell(`it is told: ${code ?? "no answer"}`, id);
  }

  function pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void time.after(durationMs, time.world, resolve));
  }
}
