/**
 * Payments with 3-D Secure in a world whose nodes are killed. Each step is sent to the node that
 * the test names. What the bank and the database know of a payment is read from their stored data.
 */
import assert from "node:assert/strict";
import { makeClient, type StatusReply } from "@tollgate/client";
import type { Bank } from "@tollgate/sandbox-bank";
import pg from "pg";
import { ascii } from "../../sandbox-bank/acquirer-host/dialects.ts";
import { assertMoneyAddsUp, readRows, untilFinal } from "./books.ts";
import { answerPareq, passChallenge } from "./cardholder.ts";
import type { Test } from "./clean-up.ts";
import { type CrashOptions, type CrashWorld, type Node, startCrashWorldOn } from "./crash-world.ts";
import { testSearchPath } from "./databases/database-server.ts";
import { waitingLocks } from "./databases/locks.ts";
import { type Acknowledged, makeMerchant, type SaleFields } from "./merchant.ts";
import { bankInProcess } from "./place.ts";
import { forgeCres } from "./threeds.ts";
import { until } from "./until.ts";

export type SecureWorld = CrashWorld & { readonly secureBank: Bank };
export type Step = "MethodUrlFrame" | "CReqForm" | "PaReqForm";

/** A killed and replaced node may take very long to answer on a busy machine. */
const patient = { resultTimeoutMs: 120_000 };

/** Starts the world with the bank in this process, so that a test can see what it receives. */
export async function startSecureWorld(t: Test, options: CrashOptions = {}): Promise<SecureWorld> {
  const startBank = bankInProcess(t, patient);
  const world = await startCrashWorldOn(t, { ...options, startBank });
  return { ...world, secureBank: world.bank };
}

export type Pay = ReturnType<typeof payAt>;

export function payAt(
  { set }: Pick<SecureWorld, "set">,
  node: Pick<Node, "url">,
  make = makeClient,
) {
  const place = { set, baseUrl: () => node.url, makeClient: make };
  const merchant = makeMerchant({ ...place, through: "secure" });
  return {
    ...merchant,

    begin: (card: string, fields: SaleFields = {}) =>
      merchant.sale({ credit_card_number: card, ...fields }),

    /** Returns the status when the cardholder has this step to do. */
    untilStep: (order: Acknowledged, step: Step): Promise<StatusReply> =>
      until(`the cardholder has to do ${step}`, async () => {
        const status = await merchant.status(order);
        assert.equal(status.status, "processing", JSON.stringify(status));
        return status["tds-status"] === step ? status : undefined;
      }),

    /** Reports, as the merchant does, that the issuer's method has run. */
    async tellMethod(order: Acknowledged): Promise<void> {
      const status = await this.untilStep(order, "MethodUrlFrame");
      const threeDSServerTransID = status["tds-method-url-frame-3ds-server-trans-id"] ?? "";
      await merchant.uploadMethod(order, { threeDSServerTransID });
    },

    /** Passes the challenge, before the browser has returned. */
    async passOnly(order: Acknowledged): Promise<string> {
      const { cres } = await passChallenge(await this.untilStep(order, "CReqForm"));
      return cres;
    },

    async pass(order: Acknowledged): Promise<void> {
      await merchant.uploadCres(order, await this.passOnly(order));
    },

    /**
     * Returns the browser before the cardholder has passed. Returns a function that passes
     * afterwards.
     */
    async returnEarly(order: Acknowledged): Promise<() => Promise<unknown>> {
      const status = await this.untilStep(order, "CReqForm");
      await merchant.uploadCres(order, forgeCres(status));
      return () => passChallenge(status);
    },

    async answerPares(order: Acknowledged): Promise<void> {
      const status = await this.untilStep(order, "PaReqForm");
      await merchant.uploadPares(order, await answerPareq(status, "https://shop.example/3ds"));
    },
  };
}

/** Takes every step that the status asks for, until the payment has ended. */
export async function payToTheEnd(pay: Pay, fields: SaleFields): Promise<Acknowledged> {
  const order = await pay.sale(fields);
  await until("the payment has ended", async () => {
    const status = await pay.status(order);
    if (status.status !== "processing") return true;
    if (status["tds-status"] === "MethodUrlFrame") await pay.tellMethod(order);
    if (status["tds-status"] === "CReqForm") await pay.pass(order);
    if (status["tds-status"] === "PaReqForm") await pay.answerPares(order);
    return undefined;
  });
  return order;
}

export async function untilStage(
  world: SecureWorld,
  order: Acknowledged,
  stage: string,
): Promise<void> {
  const read = () => readStage(world, order["merchant-order-id"]);
  await until(`order ${order["gw-order-id"]} is in stage ${stage}`, async () => {
    return (await read()) === stage ? true : undefined;
  }).catch(async (error) => {
    throw new Error(`${error.message}: it is in ${await read()}`);
  });
}

/** Returns the stored stage, or "none" if there is no such order. */
export async function readStage(
  { databaseUrl }: SecureWorld,
  clientOrderId: string,
): Promise<string> {
  const rows = await readRows<{ client_orderid: string; stage: string }>(
    databaseUrl,
    "select client_orderid, stage from orders",
  );
  return rows.find(({ client_orderid }) => client_orderid === clientOrderId)?.stage ?? "none";
}

/** Returns the events of an order, the oldest first, with the node that wrote each. */
export async function readEvents(
  { databaseUrl }: SecureWorld,
  order: Acknowledged,
): Promise<readonly { readonly node: string; readonly kind: string }[]> {
  const id = BigInt(order["gw-order-id"]);
  const rows = await readRows<{ node: string; events: readonly { readonly kind: string }[] }>(
    databaseUrl,
    `select node, events from order_history where order_id = ${id} order by version`,
  );
  return rows.flatMap(({ node, events }) => events.map(({ kind }) => ({ node, kind })));
}

/** Counts the rows of pending card data, and of keys that decrypt it. */
export async function countPending({ databaseUrl }: SecureWorld) {
  const [row] = await readRows<{ secrets: number; keys: number }>(
    databaseUrl,
    `select (select count(*)::int from held_secrets) as secrets,
       (select count(*)::int from held_keys) as keys`,
  );
  return row ?? { secrets: -1, keys: -1 };
}

/** Waits until no card data is pending, because it is destroyed after the answer was written. */
export async function untilNothingHeld(world: SecureWorld): Promise<void> {
  await until("no card data is pending", async () => {
    const { secrets, keys } = await countPending(world);
    return secrets + keys === 0 ? true : undefined;
  });
}

/**
 * Returns how the order ended, and how often and with what it was sent to the host. Asserts that
 * the books agree.
 */
export async function readEnd(world: SecureWorld, node: Node, order: Acknowledged) {
  await untilFinal(world.databaseUrl);
  await assertMoneyAddsUp(world);
  const status = await payAt(world, node).status(order);
  const reference = await readReference(world, order);
  const charges = world.secureBank
    .messages(reference)
    .filter(({ direction, mti }) => direction === "received" && mti === "0200");
  return {
    status: status.status,
    code: status["error-code"],
    verified: status["verified-3d-status"],
    charges: charges.length,
    cvv: charges.length === 0 ? undefined : await readCvv(world, reference),
  };
}

async function readReference({ databaseUrl }: SecureWorld, order: Acknowledged): Promise<string> {
  const rows = await readRows<{ reference: string }>(
    databaseUrl,
    `select progress #>> '{transaction,identifiers,reference}' as reference
     from orders where id = ${BigInt(order["gw-order-id"])}`,
  );
  return rows[0]?.reference ?? "";
}

/** Returns the CVV that the host received. */
async function readCvv({ secureBank }: SecureWorld, reference: string) {
  const { fields } = await secureBank.waitForMessage({ mti: "0200", reference });
  return ascii.readProof(fields)?.cvv;
}

/** Makes requests while no order can be written. Returns when both nodes wait for the lock. */
export async function whileNobodyWrites<Asked>(
  { databaseUrl }: SecureWorld,
  ask: () => Asked,
  isUnderWay: () => boolean = () => true,
): Promise<Asked> {
  const options = `-c search_path=${testSearchPath}`;
  const client = new pg.Client({ connectionString: databaseUrl, options });
  await client.connect();
  try {
    await client.query("begin");
    await client.query("lock table orders in exclusive mode");
    const asked = ask();
    await until("both nodes want to write", async () => {
      const { rowCount } = await client.query(
        `select ${waitingLocks} and relation = 'orders'::regclass`,
      );
      return rowCount === 2 && isUnderWay() ? true : undefined;
    });
    await client.query("commit");
    return asked;
  } finally {
    await client.end();
  }
}
